"""Workflow commands, which GitHub Actions shows beside the lines of a pull request.

GitHub shows at most ten errors, ten warnings and ten notices of a step that way; the log has all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedscope.lint.diagnostic import Diagnostic, Severity
from schedscope.lint.render import text
from schedscope.lint.render.place import Linted, Places, relative

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(modules: Sequence[Linted]) -> str:
    places = Places()
    lines: list[str] = []
    for module in modules:
        lines += [_finding(finding, module.name, places) for finding in module.findings]
        if module.problem is not None:
            where = {"file": relative(module.name), "title": "schedscope could not lint this"}
            lines.append(_command("error", where, module.problem))
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Diagnostic, module: str, places: Places) -> str:
    place = places.of(finding.spot, module)
    where = {
        "file": place.file,
        "line": place.line,
        "col": place.column,
        "endColumn": None if place.end_column is None else place.end_column - 1,
        "title": f"{finding.code} {finding.name}",
    }
    shown = text.render_finding(finding, module)
    return _command(_COMMANDS[finding.severity], where, shown)


def _command(command: str, properties: Mapping[str, str | int | None], message: str) -> str:
    given = [
        f"{name}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in properties.items()
        if value is not None
    ]
    return f"::{command} {','.join(given)}::{_escaped(message)}"


def _escaped(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
