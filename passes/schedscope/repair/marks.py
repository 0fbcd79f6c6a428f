"""The ids that repair gives, before they are written."""

from __future__ import annotations

from collections.abc import Iterator

from schedscope import annotation
from schedscope._mlir import ir
from schedscope.annotation import FRONTEND_ATTRIBUTES, GROUP_ID, SCOPE
from schedscope.repair.spanning import followed, spanning
from schedscope.xla.flat import Flat
from schedscope.xla.marking import Mark


class Marks:
    """Changes what the flat module says of its ops, so that it can be looked at again; `write`
    puts that into the module itself."""

    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._before = dict(flat.marks)
        used = [mark.group for mark in flat.marks.values() if mark.group is not None]
        self._next = max(used, default=-1) + 1
        self.knotted: set[int] = set()
        """Groups that waited for others."""

    def fresh(self) -> int:
        """An id that is not used."""
        self._next += 1
        return self._next - 1

    def give(self, op: int, group: int | None) -> None:
        """Gives an op another id, or none. An op that has its call's gets one of its own."""
        mark = self._flat.marks.get(op, _UNMARKED)
        if mark.group != group:
            self._flat.marks[op] = mark._replace(group=group)

    def changed(self) -> Iterator[tuple[int, Mark, Mark]]:
        """The ops whose id is another than before, with what they said and what they say."""
        for op, mark in self._flat.marks.items():
            before = self._before.get(op, _UNMARKED)
            if before.group != mark.group:
                yield op, before, mark

    def write(self) -> bool:
        """True where anything was written. Needs a current context."""
        changed = list(self.changed())
        if not changed:
            return False
        for op, group in followed(self._flat, self._before):
            self.give(op, group)
        touched = [mark.group for each in changed for mark in each[1:] if mark.group is not None]
        spans = spanning(self._flat, dict.fromkeys(touched))
        stay = [(op, mark) for op, mark in self._flat.marks.items() if mark.group in spans]
        written: dict[tuple[ir.Attribute, int | None], ir.Attribute] = {}
        for op, mark in (*((op, mark) for op, _, mark in self.changed()), *stay):
            attributes = self._flat.ops[op].attributes
            marked = FRONTEND_ATTRIBUTES in attributes
            present = attributes[FRONTEND_ATTRIBUTES] if marked else ir.DictAttr.get({})
            key = present, mark.group
            if key not in written:
                written[key] = _rewritten(present, mark.group, mark.group in spans)
            attributes[FRONTEND_ATTRIBUTES] = written[key]
        return True


def _rewritten(attribute: ir.Attribute, group: int | None, spans: bool) -> ir.Attribute:
    frontend = annotation.read(attribute)
    if group is not None and frontend.annotation is not None:
        return annotation.rewritten(frontend, group, mark_global=spans)
    entries = dict(frontend.entries)
    if group is None:
        del entries[GROUP_ID]
        entries.pop(SCOPE, None)
    else:
        entries[GROUP_ID] = ir.StringAttr.get(str(group))
    if spans:
        entries[SCOPE] = ir.StringAttr.get("global")
    return ir.DictAttr.get(entries)


_UNMARKED = Mark(None, None, None, None, None)
