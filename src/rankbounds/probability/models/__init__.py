"""Models of how probable it is that an unjudged document is relevant."""
