"""What the bytes of a file are, told from the bytes alone."""

from __future__ import annotations

import re
from typing import Literal

Format = Literal["text", "bytecode", "portable", "hlo"]
FORMATS: tuple[Format, ...] = ("text", "bytecode", "portable")
"""Those that are written, too; HLO text is read only."""

GZIP_MAGIC = b"\x1f\x8b"
BYTECODE_MAGIC = b"ML\xefR"

_PORTABLE_PRODUCER = re.compile(r"StableHLO_v(\d+\.\d+\.\d+)")

_HLO_TEXT = re.compile(rb"\s*HloModule\s([^\n]*)")
_FOREIGN_TEXT = (
    (re.compile(rb"\s*(hlo_module|hlo)\s*\{"), "HLO as protocol buffer text"),
    (re.compile(rb"\s*\{ lambda"), "a jaxpr"),
)


def format_of(content: bytes) -> Format:
    """The format of a module. Text is whatever is nothing else; see `foreign`."""
    if not content.startswith(BYTECODE_MAGIC):
        return "hlo" if _HLO_TEXT.match(content) else "text"
    return "bytecode" if portable_version(content) is None else "portable"


def portable_version(content: bytes) -> str | None:
    """The StableHLO version of a portable artifact, as in "1.9.0"; None for other bytecode."""
    found = _PORTABLE_PRODUCER.fullmatch(_producer(content))
    return None if found is None else found[1]


def is_scheduled(content: bytes) -> bool:
    """Whether HLO text is what XLA's scheduler left."""
    header = _HLO_TEXT.match(content)
    return header is not None and b"is_scheduled=true" in header[1]


def foreign(content: bytes) -> str | None:
    """What the bytes are, where they are no module in any form."""
    if not content.strip():
        return "empty" if not content else "blank"
    if content.startswith(BYTECODE_MAGIC):
        return None
    for pattern, what in _FOREIGN_TEXT:
        if pattern.match(content):
            return what
    if _is_hlo_proto(content):
        return "a binary HLO protocol buffer"
    start = content.find(BYTECODE_MAGIC)
    if start > 0:
        return f"no module, but one begins at byte {start}, as in a serialized jax.export.Exported"
    return _why_not_text(content)


def _producer(content: bytes) -> str:
    """The name that bytecode gives of its writer. Before it stands the format's version, a number
    whose first byte tells its length by the zeros at its low end."""
    if len(content) <= len(BYTECODE_MAGIC):
        return ""
    first = content[len(BYTECODE_MAGIC)]
    size = 9 if first == 0 else (first & -first).bit_length()
    start = len(BYTECODE_MAGIC) + size
    return content[start : content.find(b"\0", start)].decode(errors="replace")


def _why_not_text(content: bytes) -> str | None:
    nul = content.find(b"\0")
    if nul >= 0:
        return f"binary data (a zero byte at offset {nul})"
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return f"binary data (not UTF-8 at offset {error.start})"
    return None


def _is_hlo_proto(content: bytes, depth: int = 3) -> bool:
    """Whether this is an HloModuleProto, which begins with two names in fields 1 and 2, or one
    inside field 1 of an HloProto or HloSnapshot."""
    name = _field(content, 1)
    if name is None:
        return False
    if depth > 1 and _is_hlo_proto(name, depth - 1):
        return True
    entry = _field(content[content.index(name) + len(name) :], 2)
    return entry is not None and all(_is_name(text) for text in (name, entry))


def _is_name(text: bytes) -> bool:
    return 0 < len(text) < 10_000 and text.isascii() and text.decode().isprintable()


def _field(content: bytes, number: int) -> bytes | None:
    """The bytes of a protocol buffer field, where `content` begins with it."""
    if not content or content[0] != number << 3 | 2:
        return None
    length, at = 0, 1
    while at < min(len(content), 11):
        length |= (content[at] & 0x7F) << 7 * (at - 1)
        at += 1
        if content[at - 1] < 0x80:
            return content[at : at + length] or None
    return None
