"""Judging in the browser: a page, the journal that no judgment is lost from, and the file that judgments end up in."""
