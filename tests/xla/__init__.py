"""Real XLA compilers, asked ahead of time, with no accelerator."""
