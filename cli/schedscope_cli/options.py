"""The options of the scoping pass, the same for every command that runs it."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import Any


def add_scope_options(parser: Any) -> None:
    every = "separate all calls, also those that could run at the same time"
    parser.add_argument("--every-call-site", action="store_true", help=every)
    keep = "ids that span calls on purpose, such as 0,3: leave them whole"
    parser.add_argument("--keep-global", type=_ids, default=frozenset(), metavar="IDS", help=keep)


def _ids(text: str) -> frozenset[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise ArgumentTypeError(f"{text!r} is not a list of group ids, such as 0,3")
    return frozenset(map(int, parts))
