"""A StableHLO module as XLA schedules it: every body inlined at every path, nothing shared.

    computations(module) -> [Computation]

Slow and simple. Shares no code with the library; knows only what the text of a module says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxlib.mlir import ir

from tests.reference import places
from tests.reference.folding import Known, Scalar, branch_taken, fold, known_in, runs_once

Where = tuple[int, ...]
"""Where an op instance is: the positions, in their blocks, of the ops that lead to it, then its
own. A pass that changes attributes and callees alone leaves it as it is."""

Producers = frozenset[int]
"""The ops of one computation, by number, that a value comes from."""

CALLEES = {"func.call": "callee", "stablehlo.composite": "decomposition"}
MANUAL = ("sdy.manual_computation", "sdy.named_computation")
OLD_NAMES = {"shmap_body": "manual", "None": "closed_call"}
"""How jax 0.6 names what is a manual computation, and a closed call, in later ones."""
BRANCHING = ("stablehlo.case", "stablehlo.if")
KEPT = ("stablehlo.while", *BRANCHING)
"""Ops whose regions are computations; any other region is a small function of scalars."""


@dataclass(eq=False)
class Op:
    """An op at one path. Calls are not ops, what they call is."""

    number: int
    """In program order within its computation."""
    where: Where
    kind: str
    label: str
    """For people: `layer.0/dot_general`."""
    body: Body
    operands: Producers
    arity: int
    """How many values it reads."""
    frontend: dict[str, str]
    """The frontend attributes as this instance has them."""

    @property
    def group(self) -> int | None:
        return group_of(self.frontend)


@dataclass(eq=False)
class Body:
    """What one op inlines: a callee, a decomposition, a region."""

    where: Where
    parent: Body | None
    """None for the outermost body of a computation."""
    frontend: dict[str, str]
    """Of the op that inlines this."""
    out_of_line: bool
    """The op that inlines this could not carry an annotation."""
    region_of: Op | None = None
    """The loop or branch whose region this is, for the outermost body of such a computation."""
    items: list[Op | Body] = field(default_factory=list)
    """In program order."""
    root_ops: list[Op] = field(default_factory=list)
    """Ops in here that got their annotation from the op that inlines this."""

    @property
    def group(self) -> int | None:
        return group_of(self.frontend)

    def ops(self) -> Iterator[Op]:
        """Everything in here at any depth, in program order."""
        for item in self.items:
            if isinstance(item, Op):
                yield item
            else:
                yield from item.ops()


@dataclass(eq=False)
class Computation:
    label: str
    root: Body
    ops: list[Op] = field(default_factory=list)
    ancestors: list[int] = field(default_factory=list)
    """For each op a bit set of the ops it depends on."""
    results: Producers = frozenset()

    def depends(self, later: Sequence[Op], earlier: Sequence[Op]) -> bool:
        bits = sum(1 << op.number for op in earlier)
        return any(self.ancestors[op.number] & bits for op in later)

    def meet(self, some: Sequence[Op], others: Sequence[Op]) -> bool:
        """Some op of one depends on some op of the other."""
        return self.depends(some, others) or self.depends(others, some)


def group_of(frontend: Mapping[str, str]) -> int | None:
    text = frontend.get("_scheduling_group_id", "").split(":")[0].strip()
    return int(text) if text.isdigit() else None


def computations(module: ir.Module) -> list[Computation]:
    """Outer ones before those nested in them."""
    inliner = _Inliner(module)
    mains = [name for name in inliner.functions if name == "main"]
    for name in mains or inliner.public:
        inliner.entry(name)
    return inliner.done


@dataclass(eq=False)
class _Frame:
    """A block that is being gone through."""

    computation: Computation
    body: Body
    label: str
    values: dict[Any, Producers]
    known: dict[Any, Scalar]
    local: dict[Any, Scalar]
    """What is known from this function alone."""

    def inside(self, name: str) -> str:
        return "/".join(filter(None, (self.label, name)))


class _Inliner:
    def __init__(self, module: ir.Module) -> None:
        self.done: list[Computation] = []
        self.functions: dict[str, Any] = {}
        self.public: list[str] = []
        for op in module.body.operations:
            if op.operation.name == "func.func":
                name = ir.StringAttr(op.attributes["sym_name"]).value
                self.functions[name] = op.operation.regions[0].blocks[0]
                visibility = "sym_visibility"
                if visibility not in op.attributes or "private" not in str(
                    op.attributes[visibility]
                ):
                    self.public.append(name)
        self.stripped = places.is_stripped(module)

    def entry(self, name: str) -> None:
        label = "" if name == "main" else name
        self._computation(label, self.functions[name], (self.public.index(name),), {}, {}, {})

    def _computation(
        self,
        label: str,
        block: Any,
        where: Where,
        outside: Mapping[Any, Producers],
        known: Known,
        local: Known,
        region_of: Op | None = None,
    ) -> None:
        computation = Computation(label, Body(where, None, {}, False, region_of))
        self.done.append(computation)
        values: dict[Any, Producers] = dict.fromkeys([*outside, *block.arguments], frozenset())
        frame = _Frame(computation, computation.root, label, values, dict(known), dict(local))
        results, _ = self._block(block, frame)
        computation.results = frozenset[int]().union(*results)
        for op in computation.ops:
            above = 0
            for producer in op.operands:
                above |= computation.ancestors[producer] | 1 << producer
            computation.ancestors.append(above)

    def _block(self, block: Any, frame: _Frame) -> tuple[list[Producers], list[Scalar | None]]:
        """What the block's terminator hands on, and what is known of it."""
        names = _labels(block)
        for position, view in enumerate(block.operations):
            op = view.operation
            if op.name.endswith(".return"):
                operands = list(op.operands)
                return [frame.values[o] for o in operands], [frame.known.get(o) for o in operands]
            where = (*frame.body.where, position)
            inlined = self._inlined(op, frame)
            if inlined is None:
                results = self._op(op, where, frame)
                constants = [fold(op, frame.known)]
                local = fold(op, frame.local)
                if local is not None:
                    frame.local[op.results[0]] = local
            else:
                results, constants = self._inline(op, inlined, where, names[position], frame)
            frame.values.update(zip(op.results, results, strict=True))
            pairs = zip(op.results, constants, strict=False)
            frame.known.update({value: number for value, number in pairs if number is not None})
        raise AssertionError("a block without a terminator")

    def _inlined(self, op: Any, frame: _Frame) -> Any:
        """The block that XLA splices in place of the op."""
        if op.name in CALLEES:
            return self.functions[ir.FlatSymbolRefAttr(op.attributes[CALLEES[op.name]]).value]
        if op.name in MANUAL:
            return op.regions[0].blocks[0]
        if op.name == "stablehlo.while" and runs_once(op, frame.known):
            return op.regions[1].blocks[0]
        if op.name in BRANCHING:
            taken = branch_taken(op, frame.local)
            return None if taken is None else op.regions[taken].blocks[0]
        return None

    def _inline(
        self, op: Any, block: Any, where: Where, name: str, frame: _Frame
    ) -> tuple[list[Producers], list[Scalar | None]]:
        out_of_line = op.name == "func.call" and not self.stripped and places.is_out_of_line(op)
        body = Body(where, frame.body, frontend(op), out_of_line)
        isolated = op.name in CALLEES
        operands = [] if op.name in BRANCHING else list(op.operands)
        values = {} if isolated else dict(frame.values)
        values.update(zip(block.arguments, (frame.values[o] for o in operands), strict=True))
        known = {} if isolated else dict(frame.known)
        known.update(known_in(block, operands, frame.known))
        local = {} if isolated else dict(frame.local)
        inner = _Frame(frame.computation, body, frame.inside(name), values, known, local)
        results, constants = self._block(block, inner)
        frame.body.items.append(body)
        if isolated:
            _spread(frame.computation, body, results)
        return results, constants

    def _op(self, op: Any, where: Where, frame: _Frame) -> list[Producers]:
        kind = op.name.split(".")[1]
        read = [*op.operands, *(value for value in _captured(op) if value in frame.values)]
        operands = frozenset[int]().union(*(frame.values[value] for value in read))
        number = len(frame.computation.ops)
        label = frame.inside(kind)
        made = Op(number, where, kind, label, frame.body, operands, len(read), frontend(op))
        frame.computation.ops.append(made)
        frame.body.items.append(made)
        if op.name in KEPT:
            for region_number, region in enumerate(op.regions):
                part = ("cond", "body")[region_number] if kind == "while" else str(region_number)
                inner = frame.inside(f"{kind}.{part}")
                inner_where = (*where, region_number)
                self._computation(
                    inner,
                    region.blocks[0],
                    inner_where,
                    frame.values,
                    frame.known,
                    frame.local,
                    made,
                )
        for name in re.findall(r"@([\w.]+)", _called(op)):
            inner = frame.inside(f"{kind}:{name}")
            self._computation(inner, self.functions[name], (*where, 0), {}, {}, {})
        return [frozenset({number})] * len(op.results)


def _called(op: Any) -> str:
    called = "called_computations"
    return str(op.attributes[called]) if called in op.attributes else ""


def _spread(computation: Computation, body: Body, results: list[Producers]) -> None:
    """XLA puts the annotation of an inlined call on the body's root."""
    inside = set(body.ops())
    for number in sorted(frozenset[int]().union(*results)):
        op = computation.ops[number]
        if op in inside and body.group is not None and op.group is None:
            op.frontend.update(body.frontend)
            body.root_ops.append(op)


def frontend(op: Any) -> dict[str, str]:
    if "mhlo.frontend_attributes" not in op.attributes:
        return {}
    entries: Any = ir.DictAttr(op.attributes["mhlo.frontend_attributes"])
    return {entry.name: ir.StringAttr(entry.attr).value for entry in entries}


def _captured(op: Any) -> Iterator[Any]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from inner.operation.operands
                yield from _captured(inner.operation)


def _labels(block: Any) -> dict[int, str]:
    """Callees by name, without the number that makes a symbol unique; numbered where several
    of one block share a name."""
    stems: dict[int, str] = {}
    for position, view in enumerate(block.operations):
        op = view.operation
        if op.name in CALLEES:
            callee = ir.FlatSymbolRefAttr(op.attributes[CALLEES[op.name]]).value
            stem = re.sub(r"(_\d+)+$", "", callee)
            stems[position] = OLD_NAMES.get(stem, stem)
        elif op.name in MANUAL:
            stems[position] = "manual"
        elif op.name in KEPT:
            stems[position] = op.name.split(".")[1]
    names = {}
    for position, stem in stems.items():
        same = [other for other, name in stems.items() if name == stem]
        names[position] = stem if len(same) == 1 else f"{stem}.{same.index(position)}"
    return names
