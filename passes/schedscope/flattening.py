"""A module as plain lists of numbers, in one walk: what every later question of lint is asked of.

Values are numbered from 0 on; a value that is made of constants alone has a negative number, the
same for the same constant. An op of which nothing but constants comes is no op here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from schedscope import annotation, inlining
from schedscope._mlir import ADVANCE, PRE_ORDER, SKIP, Value, entries_of, ir
from schedscope.annotation import (
    COMBINER_KEY,
    FRONTEND_ATTRIBUTES,
    GROUP_ID,
    MalformedAnnotation,
)
from schedscope.callgraph import CALLED, CALLS, COLLECTIVES, SYMBOL


class Mark(NamedTuple):
    """What one frontend attribute dictionary says."""

    text: str | None
    """The annotation's."""
    group: int | None
    malformed: str | None
    """What is wrong with the annotation."""
    combiner_key: str | None
    entries: dict[str, ir.Attribute]


@dataclass(eq=False, slots=True)
class Piece:
    """A function's body, or a region."""

    function: str
    owner: int = -1
    """The op that has the region; -1 for a function's body."""
    number: int = 0
    """Which of that op's regions."""
    ops: list[int] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    sites: list[int] = field(default_factory=list)
    """Its ops that call, or have regions that are program."""
    constants: set[int] = field(default_factory=set)
    """The constants among its ops, and what is made of constants alone: equal ones are one for
    XLA from the start."""
    folded: int = 0
    """How many other ops it has that are none here."""
    has_group: bool = False
    """Whether one of its ops carries a group's id."""
    has_more: bool = False
    """Whether a collective is among its ops, or one that stays though nobody uses it."""
    first_value: int = 0
    last_value: int = 0
    """Of a function's body: its values are numbered from the first to before the last."""
    spliced: bool = False
    """Whether XLA makes the region part of the computation around it."""


@dataclass(eq=False, slots=True)
class Flat:
    """The module. Lists named alike run over the ops, by number."""

    module: ir.Module
    """Kept, for the ops die with it."""
    ops: list[ir.Operation] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    operands: list[tuple[int, ...]] = field(default_factory=list)
    """Values, constants and repetitions included."""
    first_result: list[int] = field(default_factory=list)
    result_count: list[int] = field(default_factory=list)
    marks: dict[int, Mark] = field(default_factory=dict)
    """The ops that carry frontend attributes we read."""
    regions: dict[int, list[Piece]] = field(default_factory=dict)
    """Of the ops whose regions are program, not small functions of scalars."""
    callees: dict[int, str] = field(default_factory=dict)
    outlined: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Functions that an op names and XLA keeps as computations of their own."""
    effects: set[int] = field(default_factory=set)
    """Ops that stay though nobody uses them."""
    functions: dict[str, Piece] = field(default_factory=dict)
    public: list[str] = field(default_factory=list)
    values: int = 0

    def entries(self) -> list[str]:
        """`main` where there is one, else every public function."""
        return ["main"] if "main" in self.functions else self.public


_TERMINATORS = frozenset({"func.return", "mhlo.return", "sdy.return", "stablehlo.return"})
(
    _PLAIN,
    _CONSTANT,
    _NESTED,
    _CUSTOM,
    _CALL,
    _EFFECT,
    _REGIONS,
    _END,
    _FUNCTION,
    _MODULE,
) = range(10)
_SPLAT = re.compile(r"dense<(-?[0-9][-+.0-9eE]*)>")
_NEUTRAL = {"stablehlo.add": 0, "stablehlo.multiply": 1}
"""Ops that are their other operand where one is this number; XLA leaves them out."""
_EFFECTS = frozenset(
    f"stablehlo.{name}" for name in ("infeed", "outfeed", "recv", "rng", "send", "create_token")
)


def flatten(module: ir.Module) -> Flat:
    """Walks `module` once."""
    return _Flattener(module).run()


class _Flattener:
    def __init__(self, module: ir.Module) -> None:
        self.flat = Flat(module)
        self._module = module
        self._numbers: dict[Value, int] = {}
        self._constants: dict[object, int] = {}
        self._splats: dict[int, float] = {}
        """The constants that are one number throughout."""
        self._marks: dict[ir.Attribute, Mark | None] = {}
        self._open: list[Piece] = []
        """The pieces that the walk is in or will come to, the innermost and first one last."""

    def run(self) -> Flat:
        flat, numbers, open_pieces = self.flat, self._numbers, self._open
        roles: dict[str, int] = {}
        ops, names, operands = flat.ops, flat.names, flat.operands
        first_result, result_count = flat.first_result, flat.result_count
        known_role, marks, constants = roles.get, self._marks, self._splats

        def visit(op: ir.Operation) -> ir.WalkResult:
            name = op.name
            role = known_role(name)
            if role is None:
                role = roles[name] = _role(name)
            if not open_pieces and role < _FUNCTION:
                return ADVANCE  # a mesh, or another symbol
            if role == _CONSTANT:
                number = numbers[op.result] = self._literal(op.attributes["value"])
                open_pieces[-1].constants.add(number)
                return ADVANCE
            if role >= _END:
                if role == _END:
                    piece = open_pieces.pop()
                    piece.results = [numbers[each] for each in op.operands]
                    piece.last_value = flat.values
                    return ADVANCE
                return self._outer(op, role)
            used = tuple([numbers[each] for each in op.operands])
            attributes = op.attributes
            mark: Mark | None = None
            if FRONTEND_ATTRIBUTES in attributes:
                attribute = attributes[FRONTEND_ATTRIBUTES]
                mark = marks[attribute] if attribute in marks else self._mark(attribute)
            if role == _PLAIN and mark is None and (not used or min(used) < 0):
                if not used or max(used) < 0:
                    self._fold(op, name, used)
                    open_pieces[-1].constants.update([numbers[each] for each in op.results])
                    return ADVANCE
                if name in _NEUTRAL and len(used) == 2:
                    neutral = _NEUTRAL[name]
                    one, other = used
                    if constants.get(one) == neutral or constants.get(other) == neutral:
                        numbers[op.result] = max(used)
                        open_pieces[-1].folded += 1
                        return ADVANCE
            here = len(ops)
            ops.append(op)
            names.append(name)
            operands.append(used)
            piece = open_pieces[-1]
            piece.ops.append(here)
            if mark is not None:
                flat.marks[here] = mark
                if mark.group is not None:
                    piece.has_group = True
            first = flat.values
            first_result.append(first)
            try:
                numbers[op.result] = first
                count = 1
            except ValueError:  # not one result
                count = 0
                for result in op.results:
                    numbers[result] = first + count
                    count += 1
            result_count.append(count)
            flat.values = first + count
            return ADVANCE if role == _PLAIN else self._special(op, name, role, here)

        self._module.operation.walk(visit, PRE_ORDER)
        return flat

    def _literal(self, attribute: ir.Attribute) -> int:
        known = self._constants.get(attribute)
        if known is None:
            known = self._constant(attribute)
            text = _SPLAT.match(str(attribute)) if _is_splat(attribute) else None
            if text is not None:
                self._splats[known] = float(text[1])
        return known

    def _constant(self, key: object) -> int:
        return self._constants.setdefault(key, -1 - len(self._constants))

    def _fold(self, op: ir.Operation, name: str, used: tuple[int, ...]) -> None:
        """What is made of constants alone is a constant."""
        for number, result in enumerate(op.results):
            key: object = (name, used, result.type, number) if len(used) == 1 else object()
            made = self._numbers[result] = self._constant(key)
            if name == "stablehlo.broadcast_in_dim" and used[0] in self._splats:
                self._splats[made] = self._splats[used[0]]

    def _mark(self, attribute: ir.Attribute) -> Mark | None:
        mark = self._marks[attribute] = _read(attribute)
        return mark

    def _outer(self, op: ir.Operation, role: int) -> ir.WalkResult:
        if role == _FUNCTION:
            symbol = ir.StringAttr(op.attributes[SYMBOL]).value
            piece = self.flat.functions[symbol] = Piece(symbol)
            visibility = "sym_visibility"
            if visibility not in op.attributes or "private" not in str(op.attributes[visibility]):
                self.flat.public.append(symbol)
            piece.first_value = self.flat.values
            self._enter(piece, op.regions[0])
            return ADVANCE
        # A module within the module is a program of its own, or a kernel's.
        return SKIP if op.parent is not None else ADVANCE

    def _enter(self, piece: Piece, region: ir.Region) -> None:
        for block in region.blocks:
            for argument in block.arguments:
                self._numbers[argument] = self.flat.values
                piece.arguments.append(self.flat.values)
                self.flat.values += 1
            self._open.append(piece)

    def _special(self, op: ir.Operation, name: str, role: int, here: int) -> ir.WalkResult:
        flat, piece = self.flat, self._open[-1]
        if role in (_CALL, _CUSTOM, _REGIONS):
            piece.sites.append(here)
        elif name in COLLECTIVES:
            piece.has_more = True
        if role == _CALL:
            flat.callees[here] = ir.FlatSymbolRefAttr(op.attributes[CALLS[name]]).value
        elif role == _CUSTOM:
            if CALLED in op.attributes:
                called = ir.ArrayAttr(op.attributes[CALLED])
                names = [ir.FlatSymbolRefAttr(each).value for each in called]
                flat.outlined[here] = tuple(names)
            effect = "has_side_effect"
            if effect in op.attributes and ir.BoolAttr(op.attributes[effect]).value:
                flat.effects.add(here)
                piece.has_more = True
        elif role == _EFFECT:
            flat.effects.add(here)
            piece.has_more = True
        elif role == _REGIONS and len(op.regions):
            self._enter_regions(op, here)
            return ADVANCE
        return SKIP if len(op.regions) else ADVANCE

    def _enter_regions(self, op: ir.Operation, here: int) -> None:
        function = self._open[-1].function
        spliced = inlining.spliced_region(op)
        pieces = [Piece(function, here, number) for number in range(len(op.regions))]
        self.flat.regions[here] = pieces
        if spliced is not None:
            pieces[spliced].spliced = True
        for piece, region in reversed(list(zip(pieces, op.regions, strict=True))):
            self._enter(piece, region)


def _is_splat(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat


def _role(name: str) -> int:
    if name == "stablehlo.constant":
        return _CONSTANT
    if name in _TERMINATORS:
        return _END
    if name == "func.func":
        return _FUNCTION
    if name == "builtin.module":
        return _MODULE
    if name in CALLS:
        return _CALL
    if name == "stablehlo.custom_call":
        return _CUSTOM
    if name in _EFFECTS:
        return _EFFECT
    if name in inlining.SPLICED or name in inlining.BRANCHES or name == "stablehlo.while":
        return _REGIONS
    if name in COLLECTIVES or name in inlining.REDUCERS or not name.startswith("stablehlo."):
        return _NESTED
    return _PLAIN


def _read(attribute: ir.Attribute) -> Mark | None:
    if not isinstance(attribute, ir.DictAttr):
        wanted = f"{FRONTEND_ATTRIBUTES} = {attribute}, wanted a dictionary"
        return Mark(None, None, wanted, None, {})
    entries = entries_of(attribute)
    key = entries.get(COMBINER_KEY)
    key_text = ir.StringAttr(key).value if isinstance(key, ir.StringAttr) else None
    written = entries.get(GROUP_ID)
    if written is None:
        return None if key_text is None else Mark(None, None, None, key_text, entries)
    if not isinstance(written, ir.StringAttr):
        return Mark(None, None, f"{GROUP_ID} = {written}, wanted a string", key_text, entries)
    try:
        parsed = annotation.parse(written.value)
    except MalformedAnnotation as error:
        return Mark(written.value, None, str(error), key_text, entries)
    return Mark(written.value, parsed.group, None, key_text, entries)
