"""Reading and writing: one module per format."""
