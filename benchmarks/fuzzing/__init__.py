"""What ``benchmarks/fuzz.py`` is made of: collections, damage done to their files, and properties that must hold."""
