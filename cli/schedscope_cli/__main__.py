"""`python -m schedscope_cli` is the command `schedscope`."""

from schedscope_cli.main import entry

entry()
