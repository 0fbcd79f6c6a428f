"""What XLA will say of a module's scheduling groups, before it is asked."""
