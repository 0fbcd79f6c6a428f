"""Passes that make lint clean: each group that XLA would refuse is made groups it takes."""
