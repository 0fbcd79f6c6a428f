"""For programs: one JSON object. Fields may be added; those here keep their meaning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from schedscope.lint.diagnostic import Diagnostic, Spot
from schedscope.lint.render.place import Linted, Places, relative


def render(modules: Sequence[Linted]) -> str:
    places = Places()
    document = {
        "version": 1,
        "findings": [
            _finding(finding, module.name, places)
            for module in modules
            for finding in module.findings
        ],
        "problems": [
            {"module": relative(module.name), "message": module.problem}
            for module in modules
            if module.problem is not None
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _finding(finding: Diagnostic, module: str, places: Places) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.word,
        "message": finding.message,
        "module": relative(module),
        **_spot(finding.spot, module, places),
        "groups": list(finding.groups),
        "targets": list(finding.targets),
        "help": finding.help,
        "fixable": finding.fixable,
        "related": [
            {"message": related.message, **_spot(related.spot, module, places)}
            for related in finding.related
        ],
    }


def _spot(spot: Spot, module: str, places: Places) -> dict[str, Any]:
    frames = [places.of_frame(frame) for frame in spot.frames]
    calls = [places.of_frame(frame) for frame in spot.calls]
    return {
        "op": spot.op,
        "group": spot.group,
        **places.of(spot, module)._asdict(),
        "function": spot.frames[0].function if spot.frames else None,
        "frames": [str(place) for place in frames],
        "calls": [str(place) for place in calls],
    }
