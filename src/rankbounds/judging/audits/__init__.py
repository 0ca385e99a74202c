"""Audits: intervals from model labels and a few human ones."""
