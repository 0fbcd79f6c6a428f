"""What became of the groups: reads a compiled, scheduled HLO module."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_HEADER = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = .*?\s([a-z][\w\-]*)\(")
_GROUP = re.compile(r'_scheduling_group_id="([^"]*)"')
_SCHEDULED = re.compile(r"(?:body|condition|true_computation|false_computation)=%?([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")


@dataclass(frozen=True)
class Member:
    """An instruction that still carries its annotation."""

    computation: str
    name: str
    opcode: str
    group: str
    """The group id alone, without an iteration id."""


def members(hlo: str) -> list[Member]:
    """In scheduled computations only: what sits inside a fusion is not scheduled by itself. A
    `-done` is left out, its `-start` speaks for both."""
    bodies, entry = _computations(hlo)
    found: list[Member] = []
    for computation in _reachable(bodies, entry):
        for line in bodies[computation]:
            instruction = _INSTRUCTION.match(line)
            group = _GROUP.search(line)
            if instruction is None or group is None or instruction[2].endswith("-done"):
                continue
            found.append(
                Member(computation, instruction[1], instruction[2], group[1].split(":")[0])
            )
    return found


def members_per_group(hlo: str) -> Counter[tuple[str, str]]:
    """How many instructions each (computation, group id) holds."""
    return Counter((member.computation, member.group) for member in members(hlo))


def _computations(hlo: str) -> tuple[dict[str, list[str]], str]:
    bodies: dict[str, list[str]] = {}
    entry = current = ""
    for line in hlo.splitlines():
        header = _HEADER.match(line)
        if header is not None:
            current = header[2]
            bodies[current] = []
            entry = current if header[1] else entry
        elif current:
            bodies[current].append(line)
    return bodies, entry


def _reachable(bodies: dict[str, list[str]], entry: str) -> list[str]:
    order = [entry]
    for computation in order:
        for line in bodies[computation]:
            names = _SCHEDULED.findall(line)
            for branches in _BRANCHES.findall(line):
                names += re.findall(r"[\w.\-]+", branches)
            order += [name for name in names if name in bodies and name not in order]
    return order
