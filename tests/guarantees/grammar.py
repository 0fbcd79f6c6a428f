"""How a line of the notation is read."""

from __future__ import annotations

import re

STATEMENT = re.compile(r"(?:(?P<results>[\w, ]+) = )?(?P<op>[\w<>]+)(?:\[(?P<name>[^\]]+)\])?"
                       r"(?P<middle>[^(]*)\((?P<operands>[^)]*)\)(?P<rest>.*)")  # fmt: skip
HEADER = re.compile(r"(?P<public>public )?(?P<name>[\w.<>]+)\((?P<arguments>[^)]*)\)(?P<rest>.*):")

REGIONS = re.compile(
    r"(?P<results>[\w, ]+) = (?P<op>while|case|if|manual|named) (?:(?P<subject>\w+)(?=$|[ :]))? ?"
    r"(?P<arguments>[\w, ]*?)(?:\((?P<operands>[^)]*)\))?:(?P<rest>.*)"
)
BRANCHING = ("case", "if")
Line = tuple[int, str, int]
"""Indentation, text, number."""


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
