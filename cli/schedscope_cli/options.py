"""What the commands have in common, the options of the passes among it."""

from __future__ import annotations

from argparse import (
    ArgumentTypeError,
    BooleanOptionalAction,
    Namespace,
    RawDescriptionHelpFormatter,
)
from collections.abc import Callable
from typing import Any, NamedTuple


class Words(NamedTuple):
    """What a command's help says."""

    help: str
    description: str
    epilog: str | None = None


def add_command(
    commands: Any, name: str, run: Callable[[Namespace], int], words: Words, **more: Any
) -> Any:
    """A subcommand's parser, which runs `run`."""
    parser = commands.add_parser(
        name,
        help=words.help,
        description=words.description,
        epilog=words.epilog,
        formatter_class=RawDescriptionHelpFormatter,
        **more,
    )
    parser.set_defaults(run=run, usage_error=parser.error)
    return parser


def add_scope_options(parser: Any) -> None:
    every = "separate all calls, also those that could run at the same time"
    parser.add_argument("--every-call-site", action="store_true", help=every)
    keep = "ids that span calls on purpose, such as 0,3: leave them whole"
    parser.add_argument("--keep-global", type=_ids, default=frozenset(), metavar="IDS", help=keep)


def add_repair_options(parser: Any) -> None:
    add = parser.add_argument_group("repair").add_argument
    repair = "then make of every group that XLA would refuse groups that it accepts"
    add("--repair", action="store_true", help=repair)
    add("--target", choices=("gpu", "tpu"), help="the compiler to repair for (default: gpu)")
    seal = (
        "put optimization barriers around groups, so that no later fusion breaks them; by default "
        "around those at risk, and for TPU around those that were parted"
    )
    add("--seal", action=BooleanOptionalAction, default=None, help=seal)


def _ids(text: str) -> frozenset[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise ArgumentTypeError(f"{text!r} is not a list of group ids, such as 0,3")
    return frozenset(map(int, parts))
