"""For people, as compilers write:

train.py:31:9: error[SG101]: group 0 has a gap: dot_general needs all_gather through add
   |
31 |     z = x @ w
   |         ^^^^^
called from train.py:90
  train.py:29:9: from here, in group 0: all_gather
    | y = gather(x)
  train.py:30:13: through this, outside the group: add
    | x = y + 1
help: ...
true for: gpu
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from schedscope.lint.diagnostic import Diagnostic, Related, Severity, Spot
from schedscope.lint.render.paint import Paint
from schedscope.lint.render.place import Linted, Places, callers, relative


def render(modules: Sequence[Linted], paint: Paint = Paint()) -> str:  # noqa: B008  it is frozen
    """All findings, and a line that counts them. What could not be linted is not in it."""
    places = Places()
    parts = [
        "".join(f"{line}\n" for line in _lines(finding, module.name, places, paint))
        for module in modules
        for finding in module.findings
    ]
    return "\n".join([*parts, _summary(modules)])


def render_finding(finding: Diagnostic, module: str) -> str:
    return "\n".join(_lines(finding, module, Places(), Paint()))


def _lines(finding: Diagnostic, module: str, places: Places, paint: Paint) -> Iterator[str]:
    place = places.of(finding.spot, module)
    kind = paint.severity(f"{finding.severity.word}[{finding.code}]", finding.severity)
    yield f"{paint.strong(f'{place}:')} {kind}{paint.strong(f': {finding.message}')}"
    yield from _excerpt(finding, places, module, paint)
    if finding.spot.frames:
        yield f"in {relative(module)}: {finding.spot.op}"
    calls = _calls(finding.spot)
    if calls:
        yield f"called from {calls}"
    for related in finding.related:
        yield from _related(related, calls, places, module, paint)
        calls = _calls(related.spot)
    if finding.help is not None:
        yield f"{paint.strong('help:')} {finding.help}"
    if finding.targets:
        yield f"true for: {', '.join(finding.targets)}"


def _excerpt(finding: Diagnostic, places: Places, module: str, paint: Paint) -> Iterator[str]:
    """The line, and a mark under its columns."""
    place = places.of(finding.spot, module)
    line = places.source(place)
    if line is None:
        return
    gutter = " " * len(str(place.line))
    yield paint.margin(f"{gutter} |")
    yield f"{paint.margin(f'{place.line} |')} {line}".rstrip()
    if place.column is None or place.column > len(line):
        return
    before = "".join("\t" if each == "\t" else " " for each in line[: place.column - 1])
    end = min(place.end_column or place.column + 1, len(line) + 1)
    mark = paint.severity("^" * max(1, end - place.column), finding.severity)
    yield f"{paint.margin(f'{gutter} |')} {before}{mark}"


def _related(
    related: Related, calls_before: str, places: Places, module: str, paint: Paint
) -> Iterator[str]:
    place = places.of(related.spot, module)
    yield f"  {paint.strong(f'{place}:')} {related.message}: {_short(related.spot.op)}"
    line = places.source(place)
    if line is not None:
        yield f"  {paint.margin('  |')} {line.strip()}"
    calls = _calls(related.spot)
    if calls != calls_before:
        yield f"    called from {calls}" if calls else "    not in a called function"


def _calls(spot: Spot) -> str:
    """The call path, as `train.py:31 > layers.py:20`."""
    lines = (f"{relative(frame.file)}:{frame.line}" for frame in callers(spot))
    return " > ".join(dict.fromkeys(lines))


def _short(op: str) -> str:
    return op.removeprefix("stablehlo.")


def _summary(modules: Sequence[Linted]) -> str:
    counts = Counter(finding.severity for module in modules for finding in module.findings)
    found = [_counted(counts[each], each.word) for each in Severity if counts[each]]
    where = _counted(sum(module.problem is None for module in modules), "module")
    return f"{', '.join(found) or 'nothing found'} in {where}\n"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
