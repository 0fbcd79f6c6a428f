"""What an error of XLA about scheduling groups means in the user's program, in a few lines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

from schedscope.explanation.advice import advice
from schedscope.explanation.recorded import Call, Member, Path, Record, Spot, Step, read
from schedscope.explanation.refusal import Kind, Refusal
from schedscope.report import ranges

WITH_PATHS: tuple[Kind, ...] = ("gap", "stuck", "cycle")
"""The errors that a gap, or groups that wait for each other, may be shown with."""
_PLACES = 3
"""How many places of a group are named, and how many groups where XLA names none."""
_STEPS = 16
"""How many ops of a gap are named."""
_WIDTH = 98


def explain(refusal: Refusal, record: dict[str, Any], target: str | None = None) -> list[str]:
    """The lines for one module's report (docs/report.md), as plain data. With a `target`, "gpu" or
    "tpu", gaps are shown as that compiler sees them. Raises InputError where `record` is no
    report."""
    return explain_read(refusal, read(record), target)


def explain_read(refusal: Refusal, record: Record, target: str | None = None) -> list[str]:
    """The same of a report that was read before."""
    paths = _paths(refusal, record, target)
    lines = list(_groups(refusal, record, paths))
    if refusal.path:
        lines.append(f"XLA's log has the path: {' > '.join(_shortened(refusal.path))}")
    for path in paths:
        lines += _spelled(path, refusal.kind)
    return lines + [line for text in advice(refusal, record, paths) for line in wrap(text, _WIDTH)]


def _paths(refusal: Refusal, record: Record, target: str | None) -> list[Path]:
    """What the record has of the kind that XLA complains about: gaps of the groups that it names,
    or groups that wait for each other."""
    found: Sequence[Path] = ()
    if refusal.kind == "gap":
        found = [gap for gap in record.gaps or () if gap.ids[0] in refusal.groups]
    elif refusal.kind in WITH_PATHS:
        found = [wait for wait in record.waits if set(refusal.groups) <= set(wait.ids)]
    return [path for path in found if target is None or target in path.targets][:_PLACES]


def _groups(refusal: Refusal, record: Record, paths: list[Path]) -> Iterator[str]:
    if refusal.kind == "malformed":
        yield _unread(refusal)  # the report is not of the module: that was refused as well
        return
    for id in refusal.groups:
        group = record.group(id)
        title = f"group {id} of XLA's message is"
        yield from [_missing(id, title, record)] if group is None else _group(group, title, record)
    if not refusal.groups:
        ids = dict.fromkeys(id for path in paths for id in path.ids)
        waiting = [record.group(id) for id in ids]
        yield from _any(refusal, record, [group for group in waiting if group is not None])


def _group(group: Member, title: str, record: Record) -> Iterator[str]:
    places = list(dict.fromkeys(_place(place, record) for place in group.places))
    where = places[0] if places else record.module or "the module"
    yield f"{title} group {group.original} of {where}"
    yield from (f"  and of {place}" for place in places[1:_PLACES])
    if len(places) > _PLACES:
        more = len(places) - _PLACES
        yield f"  and of {more} more place{'' if more == 1 else 's'}"


def _missing(id: int, title: str, record: Record) -> str:
    if id in record.kept_whole:
        return f'{title} an id that is kept whole on purpose (_scheduling_group_scope="global")'
    now = record.made_of(id)
    if now:
        became = ranges(group.id for group in now)
        return f"{title} group {id} of the module before scoping, which has become {became}"
    if not record.groups:
        return f"{title} not in the report: its module has no groups"
    return f"{title} not in the report: is that another module's?"


def _any(refusal: Refusal, record: Record, waiting: list[Member]) -> Iterator[str]:
    """XLA names no group: those that wait for each other, or all in short."""
    names = ", ".join(_shortened(refusal.instructions))
    named = f"names {names} and no group" if names else "names no group"
    count = len(record.groups)
    has = f"the module has {count or 'no'} group{'' if count == 1 else 's'}"
    groups = waiting or record.groups
    yield f"XLA's message {named}; {has}{':' if groups else ''}"
    for group in groups[:_PLACES]:
        for line in _group(group, f"group {group.id} is", record):
            yield f"  {line}"
    if len(groups) > _PLACES:
        yield f"  and {len(groups) - _PLACES} more"


def _unread(refusal: Refusal) -> str:
    if refusal.annotation is None:
        return "XLA:GPU could not read an annotation, and its message does not say which"
    return f'XLA could not read the annotation "{refusal.annotation}" of {refusal.instructions[0]}'


def _place(place: Spot, record: Record) -> str:
    """`layer (train.py:20), called from train.py:31`."""
    is_entry = place.function == "main" and record.module
    name = f"{place.function} of {record.module}" if is_entry else place.function
    lines = f" ({short(place.lines[0])})" if place.lines else ""
    return f"{name}{lines}{_called(place.calls)}"


def _called(calls: Sequence[Call]) -> str:
    """The lines of the calls, or of the regions where there is no call, outermost first."""
    lines = [short(call.line or "?") for call in calls if call.is_call]
    regions = [f"{call.callee} at {short(call.line)}" for call in calls if call.line is not None]
    if any(line != "?" for line in lines):
        return f", called from {' > '.join(lines)}"
    return f", inside {' > '.join(regions)}" if regions else ""


def _spelled(path: Path, kind: Kind) -> Iterator[str]:
    targets = " and ".join(name.upper() for name in path.targets)
    if kind == "gap":
        yield f"the gap, op by op ({targets}):"
    elif len(path.ids) > 1:
        yield f"groups {ranges(path.ids)} wait for each other, op by op ({targets}):"
    else:
        yield f"group {path.ids[0]} waits for itself where its matmul is fused with ({targets}):"
    steps = path.steps
    width = max((len(_op(step)) for step in steps), default=0)
    calls = steps[0].calls if steps else ()
    for number, step in enumerate(steps):
        if _STEPS // 2 <= number < len(steps) - _STEPS // 2:
            if number == _STEPS // 2:
                yield f"  … {len(steps) - _STEPS} more"
            continue
        called = "" if step.calls == calls else _called(step.calls)
        calls = step.calls
        line = "no Python line" if step.line is None else short(step.line)
        group = "" if step.group is None else f"  [group {step.group}]"
        yield f"  {_op(step):{width}}  {line}{called}{group}"


def _op(step: Step) -> str:
    return step.op.removeprefix("stablehlo.")


def _shortened(names: Sequence[str]) -> list[str]:
    if len(names) <= _STEPS:
        return list(names)
    half = _STEPS // 2
    return [*names[:half], f"… {len(names) - _STEPS} more …", *names[-half:]]


def short(lines: str) -> str:
    """`train.py:20` for a file below the working directory."""
    return lines.replace(os.path.join(os.getcwd(), ""), "")
