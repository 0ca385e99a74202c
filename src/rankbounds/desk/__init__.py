"""The judging desk: judgments made in the browser."""
