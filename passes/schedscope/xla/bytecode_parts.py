"""What MLIR's bytecode is made of: numbers of variable width, sections, and the tables of strings
and of op names. The format is described in llvm's mlir/docs/BytecodeFormat.md."""

from __future__ import annotations

_MAGIC = b"ML\xefR"
WIDTHS = bytes(((byte & -byte).bit_length() or 9) for byte in range(256))
"""How many bytes a number takes, by its first one."""


class BytecodeError(Exception):
    """Bytes that are not what this version of the format holds."""


def check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise BytecodeError(f"MLIR bytecode holds {otherwise}")


def read_number(data: bytes, at: int) -> tuple[int, int]:
    """The number written at a place, and the place after it."""
    byte = data[at]
    if byte & 1:
        return byte >> 1, at + 1
    if byte & 2:
        return (data[at + 1] << 8 | byte) >> 2, at + 2
    if not byte:
        return int.from_bytes(data[at + 1 : at + 9], "little"), at + 9
    width = WIDTHS[byte]
    return int.from_bytes(data[at : at + width], "little") >> width, at + width


def past(data: bytes, at: int, count: int) -> int:
    """The place after so many numbers."""
    for _ in range(count):
        at += WIDTHS[data[at]]
    return at


def read_sections(data: bytes, wanted: int) -> dict[int, tuple[int, int]]:
    """Where each section begins and ends, by its kind. Raises BytecodeError for bytecode of
    another version than that wanted."""
    if not data.startswith(_MAGIC):
        raise BytecodeError("this is no MLIR bytecode")
    version, at = read_number(data, len(_MAGIC))
    if version != wanted:
        raise BytecodeError(f"MLIR bytecode of version {version}, wanted {wanted}")
    at = data.index(b"\0", at) + 1  # past the producer's name
    found: dict[int, tuple[int, int]] = {}
    while at < len(data):
        kind, start, at = read_section(data, at)
        found[kind] = start, at
    return found


def read_section(data: bytes, at: int) -> tuple[int, int, int]:
    """The kind of a section, where what it holds begins, and where it ends."""
    kind = data[at]
    length, at = read_number(data, at + 1)
    if kind & 0x80:
        alignment, at = read_number(data, at)
        at += -at % alignment
    check(at + length <= len(data), "a section that is cut off")
    return kind & 0x7F, at, at + length


def read_strings(data: bytes, at: int, end: int) -> list[str]:
    count, at = read_number(data, at)
    found: list[str] = []
    for _ in range(count):  # the last string comes first
        length, at = read_number(data, at)
        found.append(data[end - length : end - 1].decode(errors="replace"))
        end -= length
    found.reverse()
    return found


def read_names(data: bytes, at: int, strings: list[str]) -> list[str]:
    dialects: list[str] = []
    count, at = read_number(data, at)
    for _ in range(count):
        dialect, at = read_number(data, at)
        dialects.append(strings[dialect >> 1])
        if dialect & 1:
            _, _, at = read_section(data, at)  # its version
    wanted, at = read_number(data, at)
    found: list[str] = []
    while len(found) < wanted:
        dialect, at = read_number(data, at)
        count, at = read_number(data, at)
        for _ in range(count):
            name, at = read_number(data, at)
            found.append(f"{dialects[dialect]}.{strings[name >> 1]}")
    return found
