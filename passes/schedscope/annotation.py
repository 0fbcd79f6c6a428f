"""The text of a scheduling annotation <-> (group, iteration), on its own and on an op.

XLA reads the frontend attribute `_scheduling_group_id` as one or two integer fields parted by a
colon (xla/service/scheduling_annotations_util.cc): `"G"`, `"G:I"`, `":I"`, or the word `"noop"`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from schedscope._mlir import entries_of, ir

FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"
GROUP_ID = "_scheduling_group_id"
SCOPE = "_scheduling_group_scope"
"""Set to "global" it keeps an id whole across calls. XLA does not know it and ignores it."""
COMBINER_KEY = "combiner_key"
"""XLA:GPU merges collectives only where this attribute is equal (measured, 0.10.2 and 0.12.0.1)."""

GROUP_LIMIT = 2**31
"""XLA:GPU reads a group id with a 32-bit parse and fails from here on (measured: "stoi")."""
PARSE_LIMIT = 2**63
"""XLA's own parser takes a signed 64-bit integer."""

_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")


class MalformedAnnotation(ValueError):
    """The text is not an annotation; the message says what was met and what was wanted."""


class Annotation(NamedTuple):
    """One annotation, parsed."""

    group: int | None
    """The group id G, or None for `":I"` and `"noop"`, which make no group."""
    suffix: str
    """What follows G in the text, `":I"` included; kept to the letter."""

    def text(self, group: int | None) -> str:
        """The annotation's text with `group` in place of its own id."""
        return self.suffix if group is None else f"{group}{self.suffix}"


def parse(text: str) -> Annotation:
    """Reads an annotation's text; raises MalformedAnnotation."""
    if text == "noop":
        return Annotation(None, text)
    fields = text.split(":")
    if len(fields) > 2:
        raise MalformedAnnotation(f'"{text}" has {len(fields)} fields, wanted "G" or "G:I"')
    if not text.replace(":", "").strip():
        raise MalformedAnnotation(f'"{text}" holds no integer, wanted "G", "G:I", ":I" or "noop"')
    group = _integer(text, fields[0], "a group id") if fields[0] else None
    if group is not None and group < 0:
        raise MalformedAnnotation(f'"{text}" has a negative group id, wanted 0 or more')
    if len(fields) == 2 and fields[1]:
        _integer(text, fields[1], "an iteration id")
    return Annotation(group, text[len(fields[0]) :])


def _integer(text: str, field: str, what: str) -> int:
    if not _INTEGER.fullmatch(field):
        raise MalformedAnnotation(f'"{text}" has {what} that is not an integer')
    value = int(field)
    if not -PARSE_LIMIT <= value < PARSE_LIMIT:
        raise MalformedAnnotation(f'"{text}" has {what} beyond 64 bits')
    return value


@dataclass(frozen=True)
class Frontend:
    """What the pass needs of one `mhlo.frontend_attributes` dictionary."""

    attribute: ir.DictAttr
    entries: dict[str, ir.Attribute]
    annotation: Annotation | None
    is_global: bool
    """The dictionary marks its id as meant to span calls."""
    combiner_key: str | None


def read(attribute: ir.Attribute) -> Frontend:
    """Parses one dictionary; raises MalformedAnnotation."""
    if not isinstance(attribute, ir.DictAttr):
        raise MalformedAnnotation(f"{FRONTEND_ATTRIBUTES} = {attribute}, wanted a dictionary")
    entries = entries_of(attribute)
    text = _string(entries, GROUP_ID)
    scope = _string(entries, SCOPE)
    if scope not in (None, "global"):
        raise MalformedAnnotation(f'{SCOPE} = "{scope}", wanted "global" or no such attribute')
    annotation = None if text is None else parse(text)
    key = _string(entries, COMBINER_KEY)
    return Frontend(attribute, entries, annotation, scope is not None, key)


def entries_on(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The frontend attributes of an op; empty where it has none, or what is no dictionary."""
    if FRONTEND_ATTRIBUTES not in op.attributes:
        return {}
    found = op.attributes[FRONTEND_ATTRIBUTES]
    return entries_of(found) if isinstance(found, ir.DictAttr) else {}


def write_entries(op: ir.Operation, entries: dict[str, ir.Attribute]) -> None:
    """Makes `entries` the frontend attributes of an op. Needs a current context."""
    if entries:
        op.attributes[FRONTEND_ATTRIBUTES] = ir.DictAttr.get(entries)
    elif FRONTEND_ATTRIBUTES in op.attributes:
        del op.attributes[FRONTEND_ATTRIBUTES]


def _string(entries: dict[str, ir.Attribute], name: str) -> str | None:
    value = entries.get(name)
    if value is None:
        return None
    try:
        return ir.StringAttr(value).value
    except ValueError:
        raise MalformedAnnotation(f"{name} = {value}, wanted a string") from None


def rewritten(
    frontend: Frontend,
    group: int | None = None,
    combiner_key: str | None = None,
    mark_global: bool = False,
) -> ir.DictAttr:
    """`frontend` as an attribute with a new group id, combiner key or marker; None leaves one as
    it is. Every other entry is kept. Needs a current context."""
    entries = dict(frontend.entries)
    if group is not None and frontend.annotation is not None:
        entries[GROUP_ID] = ir.StringAttr.get(frontend.annotation.text(group))
    if combiner_key is not None:
        entries[COMBINER_KEY] = ir.StringAttr.get(combiner_key)
    if mark_global:
        entries[SCOPE] = ir.StringAttr.get("global")
    return ir.DictAttr.get(entries)
