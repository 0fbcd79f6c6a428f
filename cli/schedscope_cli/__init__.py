"""The command `schedscope`."""
