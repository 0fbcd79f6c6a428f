"""Exit statuses."""

CLEAN = 0
FOUND = 1
FAILED = 2
