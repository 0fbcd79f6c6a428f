"""Small programs with scheduling groups, built with the jax that runs the tests."""
