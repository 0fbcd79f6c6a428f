"""How XLA sees the groups of a module: its graphs, the members, and what it refuses."""
