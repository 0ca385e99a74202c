"""The gate: pass or fail by what a comparison shows."""
