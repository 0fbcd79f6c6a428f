"""`schedscope rule`: what the rules of lint say, and why."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from schedscope_cli.messages import say
from schedscope_cli.status import CLEAN, FAILED

_HELP = "explain rules of lint"


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("rule", help=_HELP, description="Explains rules of lint.")
    parser.set_defaults(run=run)
    words = "its code (SG101), the beginning of codes (SG1), or its name; none: list them all"
    parser.add_argument("rules", nargs="*", metavar="RULE", help=words)


def run(arguments: Namespace) -> int:
    from schedscope.errors import UsageError
    from schedscope.lint.documentation import explained, listed
    from schedscope.lint.selection import select

    try:
        rules = select(arguments.rules, ())
    except UsageError as error:
        say(f"schedscope: error: {error}")
        return FAILED
    print("\n".join(map(explained, rules) if arguments.rules else map(listed, rules)))
    return CLEAN
