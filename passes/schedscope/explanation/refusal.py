"""XLA's error texts about scheduling groups: which it is, and what it names.

The texts are those of openxla/xla: legalize_scheduling_annotations.cc,
scheduling_annotations_util.cc and latency_hiding_scheduler.cc in xla/service.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias

Kind = Literal[
    "gap", "two_ids", "malformed", "stuck", "fusion", "cycle", "overlap", "order", "propagation"
]
"""What XLA has to say against a program's groups."""


class Refusal(NamedTuple):
    """One error of XLA about scheduling groups."""

    kind: Kind
    message: str
    """The part of the text that was recognised, on one line."""
    groups: tuple[int, ...] = ()
    """The ids that it names, as the module that XLA compiled has them."""
    instructions: tuple[str, ...] = ()
    """The HLO instructions that it names."""
    annotation: str | None = None
    """The annotation that is malformed, as XLA printed it."""
    path: tuple[str, ...] = ()
    """The instructions of the gap, first to last, where XLA's log has them: it prints them at
    TF_CPP_MIN_LOG_LEVEL=0."""


def refusal_in(text: str) -> Refusal | None:
    """The first error about scheduling groups in an exception's message or a whole log."""
    return next(iter(refusals_in(text)), None)


def refusals_in(text: str) -> list[Refusal]:
    """Every different one, in the order in which they stand: a log may hold several compilations,
    and the same error several times over."""
    different: dict[object, Refusal] = {}
    for _, refusal in sorted(_found(text), key=lambda each: each[0]):
        said = refusal.kind, refusal.groups, refusal.instructions, refusal.annotation
        different.setdefault(said, refusal)
    return list(different.values())


def _found(text: str) -> Iterator[tuple[int, Refusal]]:
    for pattern, read in _TEXTS:
        for match in pattern.finditer(text):
            refusal = read(match)
            if refusal is not None:
                yield match.start(), refusal


_Reader: TypeAlias = Callable[[re.Match[str]], Refusal | None]


def _gap(match: re.Match[str]) -> Refusal:
    group, name = match["group"], match["name"]
    path = _logged_path(match.string[: match.start()], name) if name else ()
    return Refusal("gap", _line(match), _ids(group), _names(name), path=path)


def _malformed(match: re.Match[str]) -> Refusal:
    name, annotation = match["name"], match["annotation"].strip()
    kind: Kind = "two_ids" if _JOINED.fullmatch(annotation) else "malformed"
    ids = _ids(*annotation.split(",")) if kind == "two_ids" else _ids(annotation)
    return Refusal(kind, _line(match), ids, _names(name), annotation)


def _stuck(match: re.Match[str]) -> Refusal | None:
    """The scheduler says so for other reasons too: then none of the reasons is an annotation."""
    skipped = _SKIPPED.findall(match["skipped"] or "")
    waiting = [name for name, reason in skipped if "Annotation" in reason]
    return None if skipped and not waiting else Refusal("stuck", _line(match), (), tuple(waiting))


def _stoi(_: re.Match[str]) -> Refusal:
    """All that XLA:GPU says of an id that it cannot read as a number of 32 bits."""
    return Refusal("malformed", "stoi")


def _naming(kind: Kind) -> _Reader:
    """Reads a text that may name one instruction and one or two ids."""

    def read(match: re.Match[str]) -> Refusal:
        named = match.groupdict()
        ids = _ids(named.get("group"), named.get("other"))
        return Refusal(kind, _line(match), ids, _names(named.get("name")))

    return read


_PATTERNS: tuple[tuple[str, _Reader], ...] = (
    (
        r"annotation groups with gaps(?: doesn't exist yet)?"
        r"(?:, annotation:?\s*(?P<group>[\d:-]*), instr:? (?P<name>NAME))?",
        _gap,
    ),
    (
        r"(?:non-integer|negative|more than 2) scheduling annotation"
        r" (?:group id|iteration id|fields), inst: (?P<name>NAME)"
        r", annotation: (?P<annotation>[^\n'\"]*)",
        _malformed,
    ),
    (r"(?m:^(?:.*Error: )?(?:[A-Z_]+: )?stoi$)", _stoi),
    (
        r"failed to find a node to schedule"
        r"(?:, skipped nodes: (?P<skipped>(?:NAME: Skipped due to \w+\.(?:; )?)*))?",
        _stuck,
    ),
    (
        r"fusion with multiple annotations in the fused computation"
        r"(?:\. fusion: (?P<name>NAME), annotations: (?P<group>[\d:-]*) and (?P<other>[\d:-]*))?",
        _naming("fusion"),
    ),
    (
        r"scheduling group annotation cycle between scheduling_group_id: (?P<group>[\d:-]*)"
        r" and scheduling_group_id: (?P<other>[\d:-]*)",
        _naming("cycle"),
    ),
    (
        r"scheduling group which exceeds the overlap limits\. Annotation id: (?P<group>\d+)\."
        r"(?: It needs \d+ [^,\n]* resources, but the limit is \d+\.)*",
        _naming("overlap"),
    ),
    (
        r"to propagate scheduling annotation (?P<group>[\d:-]*) to (?P<name>NAME)"
        r" but it has an existing annotation: (?P<other>[\d:-]*)",
        _naming("propagation"),
    ),
    (r"Check failed: HasKeepOriginalSequenceOrderInGroup\w*", _naming("order")),
)
"""NAME stands for an instruction's name, a blank for any white space: logs are wrapped."""

_NAME = r"[\w.-]+"
_TEXTS = tuple(
    (re.compile(pattern.replace("NAME", _NAME).replace(" ", r"\s+")), read)
    for pattern, read in _PATTERNS
)
_SKIPPED = re.compile(rf"({_NAME}):\s+Skipped\s+due\s+to\s+(\w+)")
_JOINED = re.compile(r"\d+(?::-?\d*)?(?:,\d+(?::-?\d*)?)+")
"""What XLA:GPU's combiner makes of the ids of the collectives that it merges."""
_STEP = re.compile(rf"PATH: ({_NAME})(?:, annotation: ([\d:-]*))?")


def _logged_path(before: str, last: str) -> tuple[str, ...]:
    """What XLA logged before the error: the gap's instructions, from `last` back to the next one
    of the group."""
    steps = _STEP.findall(before)
    names = [name for name, _ in steps]
    if last not in names:
        return ()
    begin = len(names) - 1 - names[::-1].index(last)
    group = steps[begin][1]
    inside = (i for i, step in enumerate(steps[begin + 1 :], begin + 1) if step[1] == group)
    end = next(inside, len(steps) - 1) if group else len(steps) - 1
    return tuple(reversed(names[begin : end + 1]))


def _line(match: re.Match[str]) -> str:
    return " ".join(match[0].split())


def _names(name: str | None) -> tuple[str, ...]:
    return (name,) if name else ()


def _ids(*annotations: str | None) -> tuple[int, ...]:
    """The group ids of annotations such as "3" and "3:1"."""
    fields = (each.strip().split(":")[0] for each in annotations if each)
    return tuple(dict.fromkeys(int(field) for field in fields if re.fullmatch("[0-9]+", field)))
