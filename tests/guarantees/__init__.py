"""One file a guarantee of the pass, shown on small modules."""
