"""Engines for runs that one machine's memory cannot hold: stream and Spark."""
