"""Statistics on arrays of scores: tests of significance, corrections, intervals, agreement."""
