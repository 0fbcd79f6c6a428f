"""Errors that a person can act on: XLA's texts, the report, and what is said of both."""
