"""SARIF 2.1.0 (OASIS), which code hosts and editors read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from schedscope.lint.diagnostic import Diagnostic, Related, Severity, Spot
from schedscope.lint.render.place import Linted, Place, Places, callers, relative
from schedscope.lint.rule import Rule

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def render(modules: Sequence[Linted], rules: Sequence[Rule], version: str | None) -> str:
    """`rules` are those that were asked; `version` is schedscope's."""
    places = Places()
    numbers = {rule.code: number for number, rule in enumerate(rules)}
    run = {
        "tool": {"driver": _driver(rules, version)},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(modules)],
        "results": [
            _result(finding, numbers, module.name, places)
            for module in modules
            for finding in module.findings
        ],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _driver(rules: Sequence[Rule], version: str | None) -> dict[str, Any]:
    driver: dict[str, Any] = {"name": "schedscope", "rules": [_rule(rule) for rule in rules]}
    if version is not None:
        driver["version"] = version
    return driver


def _rule(rule: Rule) -> dict[str, Any]:
    first, _, _ = rule.doc.partition("\n\n")
    summary = " ".join(first.split())
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": summary},
        "fullDescription": {"text": summary},
        "help": {"text": rule.doc, "markdown": rule.doc},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _invocation(modules: Iterable[Linted]) -> dict[str, Any]:
    problems = [module for module in modules if module.problem is not None]
    return {
        "executionSuccessful": not problems,
        "toolExecutionNotifications": [
            {
                "level": "error",
                "message": {"text": module.problem},
                "locations": [_location(Place(relative(module.name)))],
            }
            for module in problems
        ],
    }


def _result(
    finding: Diagnostic, numbers: dict[str, int], module: str, places: Places
) -> dict[str, Any]:
    shown = finding.message if finding.help is None else f"{finding.message}\n{finding.help}"
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": shown},
        "locations": [_location(places.of(finding.spot, module))],
        "relatedLocations": [
            _related(related, number, module, places)
            for number, related in enumerate(finding.related, 1)
        ],
        "properties": {
            "module": relative(module),
            "groups": list(finding.groups),
            "targets": list(finding.targets),
        },
    }
    if finding.code in numbers:
        result["ruleIndex"] = numbers[finding.code]
    if finding.spot.frames:
        result["stacks"] = [{"frames": _stack(finding.spot, places)}]
    return result


def _related(related: Related, number: int, module: str, places: Places) -> dict[str, Any]:
    message = f"{related.message}: {related.spot.op}"
    place = places.of(related.spot, module)
    return {"id": number, "message": {"text": message}, **_location(place)}


def _stack(spot: Spot, places: Places) -> list[dict[str, Any]]:
    """Innermost first, as SARIF has it."""
    frames = [spot.frames[0], *reversed(list(callers(spot)))]
    return [
        {
            "location": {
                **_location(places.of_frame(frame)),
                "logicalLocations": [{"fullyQualifiedName": frame.function or "<unknown>"}],
            }
        }
        for frame in frames
    ]


def _location(place: Place) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.file)}}
    if place.line:
        region = {"startLine": place.line}
        if place.column is not None:
            region["startColumn"] = place.column
        if place.end_column is not None:
            region["endColumn"] = place.end_column
        physical["region"] = region
    return {"physicalLocation": physical}


def _uri(file: str) -> str:
    return Path(file).as_uri() if os.path.isabs(file) else quote(Path(file).as_posix())
