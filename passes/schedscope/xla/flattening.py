"""From a module to its lists of numbers, in one pass over its bytecode.

Where the numbers say too little the binding is asked: about each constant, each dictionary of
attributes and each special op, but not about the many others.
"""

from __future__ import annotations

from schedscope import inlining
from schedscope._mlir import ADVANCE, PRE_ORDER, ir
from schedscope.annotation import FRONTEND_ATTRIBUTES
from schedscope.callgraph import CALLED, CALLS, COLLECTIVES, SYMBOL
from schedscope.xla import bytecode
from schedscope.xla.bytecode import BLOCK, END, REGION, Bytecode, BytecodeError
from schedscope.xla.constants import Constants
from schedscope.xla.flat import Flat, Piece
from schedscope.xla.marking import Mark, read_mark
from schedscope.xla.roles import CALL, CONSTANT, CUSTOM, EFFECT, PLAIN, REGIONS, TERMINATOR, role_of

_UNDEFINED = -(1 << 62)
"""The number of a value that is not made yet."""


def flatten(module: ir.Module, data: bytes | None = None) -> Flat:
    """Reads `module`; `data` is its bytecode, where that has been written before."""
    return _Flattener(module, Bytecode(bytecode.write(module) if data is None else data)).run()


class _Flattener:
    def __init__(self, module: ir.Module, code: Bytecode) -> None:
        self.flat = Flat(module)
        self._names = code.names
        self._roles = [role_of(name) for name in code.names]
        self._numbers: list[int] = []
        """What the values in scope are here, by their numbers in the bytecode."""
        self._events = code.events(self._numbers, _UNDEFINED)
        self._ops = _walked(module)
        self._at = -1
        """The op that was read last, counted in the order of the walk."""
        self._constants = Constants()
        self._marks: dict[int, Mark | None] = {-1: None}
        """By the number of the dictionary of attributes."""
        self._coming: list[Piece | None] = []
        """What the next regions are, the first one last; None for one that is no program."""
        self._open: list[Piece] = []
        """The pieces that the walk is in, the innermost last."""

    def run(self) -> Flat:
        for kind, _, _, _, _, _, regions in self._events:
            if kind < 0:
                continue
            self._at += 1
            op = self._ops[self._at]
            if self._names[kind] == "func.func":
                self._function(op)
            elif self._at > 0:  # a mesh, another symbol; or a module, which is its own program
                for _ in range(regions):
                    next(self._events)
                    self._at += self._pass_over()
        if self._at + 1 != len(self._ops):
            raise BytecodeError("the bytecode holds other ops than the module")
        return self.flat

    def _function(self, op: ir.Operation) -> None:
        symbol = ir.StringAttr(op.attributes[SYMBOL]).value
        piece = self.flat.functions[symbol] = Piece(symbol)
        visibility = "sym_visibility"
        if visibility not in op.attributes or "private" not in str(op.attributes[visibility]):
            self.flat.public.append(symbol)
        piece.first_value = self.flat.values
        self._coming.append(piece)
        self._body()

    def _body(self) -> None:
        """Reads the region that comes next, to its end."""
        flat, numbers, roles = self.flat, self._numbers, self._roles
        ops, names, operands = flat.ops, flat.names, flat.operands
        first_result, result_count = flat.first_result, flat.result_count
        all_names, all_ops, marks = self._names, self._ops, self._marks
        literal = self._constants.literal
        at, values = self._at, flat.values
        for kind, attributes, properties, first, count, used, regions in self._events:
            if kind < 0:
                flat.values = values
                at += self._structure(kind, first, count)
                if not self._open:
                    break
                piece, values = self._open[-1], flat.values
                continue
            at += 1
            role = roles[kind]
            if role == CONSTANT:
                numbers[first] = literal(all_ops[at], attributes, properties)
                piece.constants.add(numbers[first])
                continue
            lowest = min(used) if used else -1
            if lowest == _UNDEFINED:
                raise BytecodeError(f"{all_names[kind]} uses a value that is made after it")
            mark = marks[attributes] if attributes in marks else self._mark(attributes, all_ops[at])
            if role == PLAIN:
                if lowest < 0 and mark is None and self._folds(all_ops[at], used, first, count):
                    continue
            elif role == TERMINATOR:
                piece.results = list(used)
                piece.last_value = values
                continue
            here = len(ops)
            ops.append(all_ops[at])
            names.append(all_names[kind])
            operands.append(used)
            piece.ops.append(here)
            if mark is not None:
                flat.marks[here] = mark
                if mark.group is not None:
                    piece.has_group = True
            first_result.append(values)
            result_count.append(count)
            if count == 1:
                numbers[first] = values
                values += 1
            else:
                numbers[first : first + count] = range(values, values + count)
                values += count
            if role != PLAIN:
                self._special(all_ops[at], role, here, regions)
            elif regions:
                self._coming.extend([None] * regions)
        self._at = at

    def _structure(self, kind: int, first: int, count: int) -> int:
        """Enters or leaves a region or block; returns how many ops were passed over."""
        numbers = self._numbers
        if kind == END:
            self._open.pop()
        elif kind == BLOCK:
            fresh = range(self.flat.values, self.flat.values + count)
            numbers[first : first + count] = fresh
            self._open[-1].arguments.extend(fresh)
            self.flat.values += count
        else:
            piece = self._coming.pop()
            if piece is None:
                return self._pass_over()
            self._open.append(piece)
        return 0

    def _pass_over(self) -> int:
        """Reads on to the end of the region that has begun; returns how many ops it has."""
        depth, ops = 1, 0
        for event in self._events:
            kind = event[0]
            if kind >= 0:
                ops += 1
            elif kind == REGION:
                depth += 1
            elif kind == END:
                depth -= 1
                if not depth:
                    break
        return ops

    def _mark(self, attributes: int, op: ir.Operation) -> Mark | None:
        written = op.attributes
        found = FRONTEND_ATTRIBUTES in written
        mark = read_mark(written[FRONTEND_ATTRIBUTES]) if found else None
        self._marks[attributes] = mark
        return mark

    def _folds(self, op: ir.Operation, used: tuple[int, ...], first: int, count: int) -> bool:
        """Whether an op with a constant among its operands, or with none, is no op for us."""
        piece, numbers = self._open[-1], self._numbers
        if not used or max(used) < 0:
            made = numbers[first : first + count] = self._constants.made(op, used)
            piece.constants.update(made)
            return True
        if not self._constants.leave_out(op.name, used):
            return False
        numbers[first] = max(used)
        piece.folded += 1
        return True

    def _special(self, op: ir.Operation, role: int, here: int, regions: int) -> None:
        flat, piece, name = self.flat, self._open[-1], self.flat.names[here]
        if role in (CALL, CUSTOM, REGIONS):
            piece.sites.append(here)
        elif name in COLLECTIVES:
            piece.has_more = True
        if role == CALL:
            flat.callees[here] = ir.FlatSymbolRefAttr(op.attributes[CALLS[name]]).value
        elif role == CUSTOM:
            self._custom_call(op, here)
        elif role == EFFECT:
            flat.effects.add(here)
            piece.has_more = True
        elif role == REGIONS and regions:
            pieces = [Piece(piece.function, here, number) for number in range(regions)]
            flat.regions[here] = pieces
            spliced = inlining.spliced_region(op)
            if spliced is not None:
                pieces[spliced].spliced = True
            self._coming.extend(reversed(pieces))
            return
        self._coming.extend([None] * regions)

    def _custom_call(self, op: ir.Operation, here: int) -> None:
        if CALLED in op.attributes:
            called = ir.ArrayAttr(op.attributes[CALLED])
            names = [ir.FlatSymbolRefAttr(each).value for each in called]
            self.flat.outlined[here] = tuple(names)
        effect = "has_side_effect"
        if effect in op.attributes and ir.BoolAttr(op.attributes[effect]).value:
            self.flat.effects.add(here)
            self._open[-1].has_more = True


def _walked(module: ir.Module) -> list[ir.Operation]:
    """Every op, in the order of the bytecode."""
    found: list[ir.Operation] = []
    add = found.append

    def visit(op: ir.Operation) -> ir.WalkResult:
        add(op)
        return ADVANCE

    module.operation.walk(visit, PRE_ORDER)
    return found
