"""The ops of a module as numbers, read out of its bytecode: a fraction of what it costs to ask the
bindings about each op.

The format is MLIR's, version 6, as llvm's mlir/docs/BytecodeFormat.md describes it; what that
leaves open is as in mlir/lib/Bytecode/Writer (BytecodeWriter.cpp, IRNumbering.cpp).
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple, TypeAlias

from schedscope._mlir import bytecode_of, ir

VERSION = 6
_MAGIC = b"ML\xefR"
_STRINGS, _DIALECTS, _IR = 0, 1, 4
"""Sections."""
_ATTRIBUTES, _RESULTS, _OPERANDS, _SUCCESSORS, _REGIONS, _USE_ORDERS, _PROPERTIES, _UNKNOWN = (
    1 << bit for bit in range(8)
)
"""What an op has, as bits of its mask."""
_WIDTHS = bytes(((byte & -byte).bit_length() or 9) for byte in range(256))
"""How many bytes a number takes, by its first one."""
_BITS = (0, 0x7F, 0x3FFF, 0x1FFFFF, 0xFFFFFFF)
_head, _pair, _word = (Struct(fields).unpack_from for fields in ("<BBB", "<BB", "<I"))
_ONE, _TWO = 0b11, 0b101
"""Small numbers as they are written."""

REGION, BLOCK, END = -1, -2, -3


class BytecodeError(Exception):
    """Bytes that are not what this version of the format holds."""


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
        if not data.startswith(_MAGIC):
            raise BytecodeError("this is no MLIR bytecode")
        version, at = _number(data, len(_MAGIC))
        if version != VERSION:
            raise BytecodeError(f"MLIR bytecode of version {version}, wanted {VERSION}")
        self._data = data
        at = data.index(b"\0", at) + 1
        sections: dict[int, tuple[int, int]] = {}
        while at < len(data):
            number, start, at = _section(data, at)
            sections[number] = start, at
        self._start, self._stop = sections[_IR]
        strings = _strings(data, *sections[_STRINGS])
        self.names = _names(data, sections[_DIALECTS][0], strings)
        """Of the ops that occur, as in `stablehlo.add`."""

    def events(self, held: list[int], empty: int) -> Iterator[Fields]:
        """In program order, which is that of a walk from the outside in.

        Args:
          held: what the values hold, at their numbers: the caller writes it, where something is
            defined, and gets it where that is an operand.
          empty: what a value holds before.
        """
        data, widths, bits = self._data, _WIDTHS, _BITS
        ops, at = _number(data, self._start)
        ops >>= 1
        around: list[tuple[int, ...]] = []
        # Of the innermost region: the blocks and, beside it, the regions to come; where their
        # section ends, if they have one; its first value, the next, the one after its last; and
        # what the numbers in it count from.
        blocks = regions = stop = first = free = end = base = 0
        while True:
            if ops:
                ops -= 1
                name, mask, byte = _head(data, at)
                if name & 1:
                    name >>= 1
                    at += 2 + widths[byte]  # past the location
                else:
                    name, at = _number(data, at)
                    mask = data[at]
                    at += 1 + widths[data[at + 1]]
                attributes = properties = -1
                if mask & _ATTRIBUTES:
                    attributes, at = _number(data, at)
                if mask & _PROPERTIES:
                    properties, at = _number(data, at)
                results = 0
                if mask & _RESULTS:
                    byte, kind = _pair(data, at)
                    if byte == _ONE:
                        results = 1
                        at += 1 + widths[kind]
                    else:
                        results, at = _number(data, at)
                        at = _past(data, at, results)
                operands: tuple[int, ...] = ()
                if mask & _OPERANDS:
                    count = data[at]
                    if count in (_ONE, _TWO) and not base:
                        (word,) = _word(data, at + 1)
                        width = widths[word & 0xFF]
                        if count == _ONE:
                            operands = (held[word >> width & bits[width]],)
                            at += 1 + width
                        else:
                            one = held[word >> width & bits[width]]
                            at += 1 + width
                            (word,) = _word(data, at)
                            width = widths[word & 0xFF]
                            operands = one, held[word >> width & bits[width]]
                            at += width
                    else:
                        operands, at = _operands(data, at, held, base)
                if mask & _RARE:
                    at = _past_rare(data, at, mask, results)
                if not mask & _REGIONS:
                    yield name, attributes, properties, free, results, operands, 0
                    free += results
                    continue
                inner, at = _number(data, at)
                yield name, attributes, properties, free, results, operands, inner >> 1
                free += results
                around.append((ops, blocks, regions, stop, first, free, end, base))
                first, regions, stop = end, inner >> 1, 0
                if inner & 1:
                    base = first
                    number, at, stop = _section(data, at)
                    _check(number == _IR, "regions in a section that is none of ops")
                ops = blocks = 0
            elif blocks:
                blocks -= 1
                ops, count, at = _block(data, at)
                yield BLOCK, -1, -1, free, count, (), 0
                free += count
                continue
            elif around:
                _check(free == end, "a region with other values than it should have")
                yield END, -1, -1, 0, 0, (), 0
            else:
                _check(at == self._stop, "more than one module")
                return
            if regions:
                regions -= 1
                blocks, at = _number(data, at)
                count = 0
                if blocks:
                    count, at = _number(data, at)
                free, end = first, first + count
                held[first:] = [empty] * count
                yield REGION, -1, -1, first, count, (), 0
            else:
                _check(stop in (0, at), "regions that do not fill their section")
                ops, blocks, regions, stop, first, free, end, base = around.pop()


_RARE = _SUCCESSORS | _USE_ORDERS | _UNKNOWN


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise BytecodeError(f"MLIR bytecode holds {otherwise}")


def _number(data: bytes, at: int) -> tuple[int, int]:
    """The number written at a place, and the place after it."""
    byte = data[at]
    if byte & 1:
        return byte >> 1, at + 1
    if byte & 2:
        return (data[at + 1] << 8 | byte) >> 2, at + 2
    if not byte:
        return int.from_bytes(data[at + 1 : at + 9], "little"), at + 9
    width = _WIDTHS[byte]
    return int.from_bytes(data[at : at + width], "little") >> width, at + width


def _past(data: bytes, at: int, count: int) -> int:
    """The place after so many numbers."""
    for _ in range(count):
        at += _WIDTHS[data[at]]
    return at


def _operands(data: bytes, at: int, held: list[int], base: int) -> tuple[tuple[int, ...], int]:
    count, at = _number(data, at)
    found: list[int] = []
    for _ in range(count):
        number, at = _number(data, at)
        found.append(held[base + number])
    return tuple(found), at


def _past_rare(data: bytes, at: int, mask: int, results: int) -> int:
    """The place after an op's successors and the orders of its results' uses."""
    _check(not mask & _UNKNOWN, "an op with something unknown")
    if mask & _SUCCESSORS:
        count, at = _number(data, at)
        at = _past(data, at, count)
    if mask & _USE_ORDERS:
        at = _past_orders(data, at, results)
    return at


def _past_orders(data: bytes, at: int, values: int) -> int:
    """The place after the orders of uses; those of one value alone do not say of which it is."""
    orders = 1
    if values > 1:
        orders, at = _number(data, at)
    for _ in range(orders):
        if values > 1:
            at = _past(data, at, 1)
        count, at = _number(data, at)
        at = _past(data, at, count >> 1)
    return at


def _block(data: bytes, at: int) -> tuple[int, int, int]:
    """How many ops and arguments a block has, and where its ops begin."""
    ops, at = _number(data, at)
    count = 0
    if ops & 1:
        count, at = _number(data, at)
        for _ in range(count):
            kind, at = _number(data, at)
            at = _past(data, at, kind & 1)  # the location, where it is known
        mask = data[at]
        at += 1
        _check(mask in (0, _USE_ORDERS), "a block with something unknown")
        if mask:
            at = _past_orders(data, at, count)
    return ops >> 1, count, at


def _section(data: bytes, at: int) -> tuple[int, int, int]:
    """The kind of a section, where what it holds begins, and where it ends."""
    kind = data[at]
    length, at = _number(data, at + 1)
    if kind & 0x80:
        alignment, at = _number(data, at)
        at += -at % alignment
    _check(at + length <= len(data), "a section that is cut off")
    return kind & 0x7F, at, at + length


def _strings(data: bytes, at: int, end: int) -> list[str]:
    count, at = _number(data, at)
    found: list[str] = []
    for _ in range(count):  # the last string comes first
        length, at = _number(data, at)
        found.append(data[end - length : end - 1].decode(errors="replace"))
        end -= length
    found.reverse()
    return found


def _names(data: bytes, at: int, strings: list[str]) -> list[str]:
    dialects: list[str] = []
    count, at = _number(data, at)
    for _ in range(count):
        dialect, at = _number(data, at)
        dialects.append(strings[dialect >> 1])
        if dialect & 1:
            _, _, at = _section(data, at)  # its version
    wanted, at = _number(data, at)
    found: list[str] = []
    while len(found) < wanted:
        dialect, at = _number(data, at)
        count, at = _number(data, at)
        for _ in range(count):
            name, at = _number(data, at)
            found.append(f"{dialects[dialect]}.{strings[name >> 1]}")
    return found
