"""The ops of a module as numbers, read out of its bytecode: a fraction of what it costs to ask the
bindings about each op.

The format is MLIR's, version 6, as llvm's mlir/docs/BytecodeFormat.md describes it; what that
leaves open is as in mlir/lib/Bytecode/Writer (BytecodeWriter.cpp, IRNumbering.cpp).
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from struct import error as StructError
from typing import NamedTuple, TypeAlias

from schedscope._mlir import bytecode_of, ir
from schedscope.xla.bytecode_parts import (
    WIDTHS,
    BytecodeError,
    check,
    past,
    read_names,
    read_number,
    read_section,
    read_sections,
    read_strings,
)

VERSION = 6
_STRINGS, _DIALECTS, _IR = 0, 1, 4
"""Sections."""
_ATTRIBUTES, _RESULTS, _OPERANDS, _SUCCESSORS, _REGIONS, _USE_ORDERS, _PROPERTIES, _UNKNOWN = (
    1 << bit for bit in range(8)
)
"""What an op has, as bits of its mask."""
_BITS = (0, 0x7F, 0x3FFF, 0x1FFFFF, 0xFFFFFFF)
_head, _body, _word = (Struct(fields).unpack_from for fields in ("<BBB", "<BBBI", "<I"))
_ONE = 0b11
_FEW = _ONE, 0b101
"""One and two, as they are written."""

REGION, BLOCK, END = -1, -2, -3


class Event(NamedTuple):
    """An op, or the begin of a region or block, or the end of a region.

    Values have the numbers of places to keep them in: those of a region follow those of the region
    around it, and two regions side by side use the same, one after the other.
    """

    name: int
    """Of an op, in `names`; or REGION, BLOCK, END."""
    attributes: int
    """The number of the dictionary of discardable attributes, -1 for none; equal dictionaries have
    one number."""
    properties: int
    """The number of the op's properties, -1 for none; among ops of one name, equal properties have
    one number."""
    first: int
    """The first result, argument of the block, or value of the region."""
    size: int
    """How many of them there are; a region has those that its own ops and blocks define."""
    operands: tuple[int, ...]
    regions: int
    """How many regions the op has; they come next."""


Fields: TypeAlias = tuple[int, int, int, int, int, tuple[int, ...], int]
"""Those of an `Event`, which takes longer to make."""


def write(module: ir.Module) -> bytes:
    """What `Bytecode` reads."""
    return bytecode_of(module, VERSION)


class Bytecode:
    def __init__(self, data: bytes) -> None:
        """Raises BytecodeError for what is no bytecode, or of another version."""
        self._data = data
        sections = read_sections(data, VERSION)
        check({_STRINGS, _DIALECTS, _IR} <= sections.keys(), "too few sections")
        self._start, self._stop = sections[_IR]
        strings = read_strings(data, *sections[_STRINGS])
        self.names = read_names(data, sections[_DIALECTS][0], strings)
        """Of the ops that occur, as in `stablehlo.add`."""

    def events(self, held: list[int], empty: int) -> Iterator[Fields]:
        """In program order, which is that of a walk from the outside in.

        Args:
          held: what the values hold, at their numbers: the caller writes it, where something is
            defined, and gets it where that is an operand.
          empty: what a value holds before.
        """
        data, widths, bits = self._data, WIDTHS, _BITS
        ops, at = read_number(data, self._start)
        ops >>= 1
        around: list[tuple[int, ...]] = []
        # Of the innermost region: the blocks and, beside it, the regions to come; where their
        # section ends, if they have one; its first value, the next, the one after its last; and
        # what the numbers in it count from.
        blocks = regions = stop = first = free = end = base = 0
        try:
            while True:
                if ops:
                    ops -= 1
                    name, mask, byte = _head(data, at)
                    if name & 1:
                        name >>= 1
                        at += 2 + widths[byte]  # past the location
                    else:
                        name, at = read_number(data, at)
                        mask = data[at]
                        at += 1 + widths[data[at + 1]]
                    attributes = properties = -1
                    if mask & _ATTRIBUTES:
                        attributes, at = read_number(data, at)
                    if mask & _PROPERTIES:
                        properties, at = read_number(data, at)
                    results, kind, count, word = _body(data, at)
                    if mask & _BOTH == _BOTH and results == _ONE and kind & 1 and count in _FEW:
                        results = 1
                        width = widths[word & 0xFF]
                        one = held[base + (word >> width & bits[width])]
                        at += 3 + width
                        if count == _ONE:
                            operands: tuple[int, ...] = (one,)
                        else:
                            (word,) = _word(data, at)
                            width = widths[word & 0xFF]
                            operands = one, held[base + (word >> width & bits[width])]
                            at += width
                    else:
                        results, at = _results(data, at) if mask & _RESULTS else (0, at)
                        operands = ()
                        if mask & _OPERANDS:
                            operands, at = _operands(data, at, held, base)
                    if mask & _RARE:
                        at = _past_rare(data, at, mask, results)
                    if not mask & _REGIONS:
                        yield name, attributes, properties, free, results, operands, 0
                        free += results
                        continue
                    inner, at = read_number(data, at)
                    yield name, attributes, properties, free, results, operands, inner >> 1
                    free += results
                    around.append((ops, blocks, regions, stop, first, free, end, base))
                    first, regions, stop = end, inner >> 1, 0
                    if inner & 1:
                        base = first
                        number, at, stop = read_section(data, at)
                        check(number == _IR, "regions in a section that is none of ops")
                    ops = blocks = 0
                elif blocks:
                    blocks -= 1
                    ops, count, at = _block(data, at)
                    yield BLOCK, -1, -1, free, count, (), 0
                    free += count
                    continue
                elif around:
                    check(free == end, "a region with other values than it should have")
                    yield END, -1, -1, 0, 0, (), 0
                else:
                    check(at == self._stop, "more than one module")
                    return
                if regions:
                    regions -= 1
                    blocks, at = read_number(data, at)
                    count = 0
                    if blocks:
                        count, at = read_number(data, at)
                    free, end = first, first + count
                    held[first:] = [empty] * count
                    yield REGION, -1, -1, first, count, (), 0
                else:
                    check(stop in (0, at), "regions that do not fill their section")
                    ops, blocks, regions, stop, first, free, end, base = around.pop()
        except (IndexError, StructError) as error:
            raise BytecodeError(f"MLIR bytecode that does not fit: {error}") from None


_BOTH = _RESULTS | _OPERANDS
_RARE = _SUCCESSORS | _USE_ORDERS | _UNKNOWN


def _results(data: bytes, at: int) -> tuple[int, int]:
    """How many results there are, and the place after their types."""
    count, at = read_number(data, at)
    return count, past(data, at, count)


def _operands(data: bytes, at: int, held: list[int], base: int) -> tuple[tuple[int, ...], int]:
    count, at = read_number(data, at)
    found: list[int] = []
    for _ in range(count):
        number, at = read_number(data, at)
        found.append(held[base + number])
    return tuple(found), at


def _past_rare(data: bytes, at: int, mask: int, results: int) -> int:
    """The place after an op's successors and the orders of its results' uses."""
    check(not mask & _UNKNOWN, "an op with something unknown")
    if mask & _SUCCESSORS:
        count, at = read_number(data, at)
        at = past(data, at, count)
    if mask & _USE_ORDERS:
        at = _past_orders(data, at, results)
    return at


def _past_orders(data: bytes, at: int, values: int) -> int:
    """The place after the orders of uses; those of one value alone do not say of which it is."""
    orders = 1
    if values > 1:
        orders, at = read_number(data, at)
    for _ in range(orders):
        if values > 1:
            at = past(data, at, 1)
        count, at = read_number(data, at)
        at = past(data, at, count >> 1)
    return at


def _block(data: bytes, at: int) -> tuple[int, int, int]:
    """How many ops and arguments a block has, and where its ops begin."""
    ops, at = read_number(data, at)
    count = 0
    if ops & 1:
        count, at = read_number(data, at)
        for _ in range(count):
            kind, at = read_number(data, at)
            at = past(data, at, kind & 1)  # the location, where it is known
        mask = data[at]
        at += 1
        check(mask in (0, _USE_ORDERS), "a block with something unknown")
        if mask:
            at = _past_orders(data, at, count)
    return ops >> 1, count, at


__all__ = ["BLOCK", "END", "REGION", "Bytecode", "BytecodeError", "Event", "Fields", "write"]
