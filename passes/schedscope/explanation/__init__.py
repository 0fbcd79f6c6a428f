"""What XLA's words mean in the user's program."""
