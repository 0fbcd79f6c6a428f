"""The JAX hook: what jax lowers, compiles and exports is scoped, and nothing else changes."""
