"""Programs from a seed, to try the pass on what nobody thought of."""
