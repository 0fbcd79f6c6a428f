"""What `schedscope fix --report` writes: the pass's own report, and what else an explanation of
XLA's errors needs: the Python lines of each group's ops, the gaps that are left, the groups that
wait for each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from schedscope._mlir import ADVANCE, PRE_ORDER, ir
from schedscope.annotation import FRONTEND_ATTRIBUTES, Frontend, MalformedAnnotation
from schedscope.annotation import read as read_frontend
from schedscope.callgraph import SYMBOL
from schedscope.locations import call_lines, name_of, source_line
from schedscope.report import ScopeReport
from schedscope.scoping.indexing import holds_annotations
from schedscope.xla.flattening import flatten
from schedscope.xla.gap_search import gaps
from schedscope.xla.group_cycles import waits
from schedscope.xla.late_fusion import scheduled, torn
from schedscope.xla.targets import TARGETS
from schedscope.xla.xla_view import Node, Step, View, view_of

FAMILIES = {"gpu": TARGETS["gpu"], "tpu": TARGETS["v5e"]}
"""The compilers whose gaps are recorded; no two TPUs differ in what they keep."""
_COPY = "copy"
"""What XLA puts in; it stands for no op of the module."""
_BACKWARD = "transpose("
"""In the name stack of what jax.grad adds to a program."""


def record_of(
    module: ir.Module, report: ScopeReport, targets: Iterable[str] = tuple(FAMILIES)
) -> dict[str, Any]:
    """Plain data for `json.dumps`. `module` is what `scope_module` made when it gave `report`.
    Gaps and waits are sought for the `targets`, a selection of FAMILIES."""
    data = report.to_json()
    cloned_from = {clone: name for name, clones in report.clones for clone in clones}
    lines, whole = _tags(module, cloned_from)
    for group in data["groups"]:
        for place in group["places"]:
            place["lines"] = list(lines.get((place["function"], group["id"]), ()))
    data["kept_whole"] = whole
    _add_paths(data, module, targets, cloned_from)
    return data


def _tags(
    module: ir.Module, cloned_from: Mapping[str, str]
) -> tuple[dict[tuple[str, int], dict[str, None]], list[int]]:
    """The Python lines of the ops of each group in each function of the user's, and the ids that
    are marked to span calls."""
    lines: dict[tuple[str, int], dict[str, None]] = {}
    known: dict[ir.Attribute, Frontend | None] = {}
    whole: dict[int, None] = {}
    function = ""

    def look(op: ir.Operation) -> ir.WalkResult:
        nonlocal function
        attributes = op.attributes
        if op.name == "func.func":
            name = ir.StringAttr(attributes[SYMBOL]).value
            function = cloned_from.get(name, name)
        elif FRONTEND_ATTRIBUTES in attributes:
            attribute = attributes[FRONTEND_ATTRIBUTES]
            if attribute not in known:
                known[attribute] = _frontend(attribute)
            frontend = known[attribute]
            annotation = None if frontend is None else frontend.annotation
            if frontend is None or annotation is None or annotation.group is None:
                return ADVANCE
            if frontend.is_global:
                whole.setdefault(annotation.group)
            line = call_lines(op.location)
            if line is not None:
                lines.setdefault((function, annotation.group), {}).setdefault(line)
        return ADVANCE

    module.operation.walk(look, PRE_ORDER)
    return lines, sorted(whole)


def _frontend(attribute: ir.Attribute) -> Frontend | None:
    try:
        return read_frontend(attribute)
    except MalformedAnnotation:
        return None


def _add_paths(
    data: dict[str, Any], module: ir.Module, targets: Iterable[str], cloned_from: Mapping[str, str]
) -> None:
    """Gaps, and groups that wait for each other: each once, with the targets that have it."""
    found: dict[str, dict[object, dict[str, Any]]] = {"gaps": {}, "waits": {}}
    for target, seen in _views(module, targets):
        for kind, ids, path, group_of in _paths(seen):
            key = ids, tuple(node.op for node in path)  # libtpu checks functions by themselves too
            if key not in found[kind]:
                steps = list(_steps(path, group_of, cloned_from))
                found[kind][key] = {"ids": list(ids), "targets": [], "path": steps}
            if target not in found[kind][key]["targets"]:
                found[kind][key]["targets"].append(target)
    for kind, entries in found.items():
        data[kind] = list(entries.values())


_Found = tuple[str, tuple[int, ...], tuple[Node, ...], Mapping[int, int]]


def _paths(seen: View) -> Iterator[_Found]:
    """Kind, ids, ops, and the group of each node that is a member."""
    for gap in gaps(seen):
        yield "gaps", (gap.group,), gap.path, gap.computation.membership.group_of
    if seen.target.stuck_on_cycles:
        waiting: set[int] = set()
        for wait in waits(seen):
            waiting.update(wait.groups)
            yield "waits", wait.groups, wait.path, scheduled(wait.computation, seen.target)
        for group, node in torn(seen):
            if group not in waiting:
                yield "waits", (group,), (node,), {}


def _views(module: ir.Module, targets: Iterable[str]) -> Iterator[tuple[str, View]]:
    if holds_annotations(module):
        flat = flatten(module)
        for target in targets:
            yield target, view_of(flat, FAMILIES[target])


def _steps(
    path: Iterable[Node], group_of: Mapping[int, int], cloned_from: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for node in path:
        stack = name_of(node.location)
        yield {
            "op": node.name,
            "location": call_lines(node.location),
            "group": group_of.get(node.number) if node.name != _COPY else None,
            "backward": stack is not None and _BACKWARD in stack,
            "path": [_call(step, cloned_from) for step in node.path],
        }


def _call(step: Step, cloned_from: Mapping[str, str]) -> dict[str, Any]:
    callee = step.op.name if step.callee is None else cloned_from.get(step.callee, step.callee)
    is_call = step.callee is not None
    return {"callee": callee, "is_call": is_call, "location": source_line(step.op.location)}
