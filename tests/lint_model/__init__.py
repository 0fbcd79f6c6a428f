"""What XLA sees of a module, on modules of a few ops."""
