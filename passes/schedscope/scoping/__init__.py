"""Ids of their own for the groups of each call (guarantees S1 to S4, scope_module)."""
