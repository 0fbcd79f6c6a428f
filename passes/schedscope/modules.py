"""Modules in files: read and written as MLIR text, bytecode or StableHLO portable artifact.

Each may be wrapped in gzip. The format is recognised by content, and output follows the input
unless asked otherwise. XLA's HLO text can be read, and not written.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from schedscope._mlir import (
    ADVANCE,
    INTERRUPT,
    PRE_ORDER,
    SKIP,
    Diagnostic,
    bytecode_of,
    diagnostics,
    ir,
    jaxlib_version,
    make_context,
    portable_from_bytes,
    portable_to_bytes,
    stablehlo_export_version,
    stablehlo_from_hlo,
    stablehlo_version,
)
from schedscope.errors import FileError, SchedscopeError
from schedscope.formats import (
    GZIP_MAGIC,
    Format,
    foreign,
    format_of,
    is_scheduled,
    portable_version,
)
from schedscope.locations import buffer_position, source_line

WANTED = "wanted: StableHLO as MLIR text, MLIR bytecode or a portable artifact"
_HLO_REFUSED = (
    f"this is HLO text; {WANTED}, as lowered.as_text(debug_info=True) or JAX_DUMP_IR_TO gives "
    "(HLO text cannot go back to jax; `schedscope lint` reads it)"
)
_SCHEDULED_REFUSED = (
    "this is HLO text that XLA has optimized and scheduled; wanted: what XLA was given, "
    "the file of the same dump whose name ends in before_optimizations.txt"
)


@dataclass(frozen=True)
class Source:
    """A module and the file it came from."""

    module: ir.Module
    """To be changed in place."""
    context: ir.Context
    format: Format
    gzipped: bool
    version: str | None
    """The StableHLO version of a portable artifact, as in "1.9.0"."""
    located: bool
    """Whether the file has locations; without them none are printed."""
    data: bytes
    """The file's bytes."""
    name: str
    """The file's name in messages."""


def read(data: bytes, name: str, *, hlo: bool = False) -> Source:
    """The module in `data`; with `hlo` HLO text, too. Raises FileError, and prints nothing."""
    gzipped = data.startswith(GZIP_MAGIC)
    content = _gunzip(data, name) if gzipped else data
    what = foreign(content)
    if what is not None:
        raise FileError(name, f"this is {what}; {WANTED}")
    format = format_of(content)
    if format == "hlo":
        content = _from_hlo(content, name, allowed=hlo)
    version = portable_version(content)
    context = make_context()
    module = _parse(content, format, context, name)
    if format != "portable" and b"vhlo" in content:
        _refuse_vhlo(module, name)
    if format == "text" and not len(module.body.operations) and b"module" not in content:
        raise FileError(name, f"there is no module in this text; {WANTED}")
    located = (format != "text" or b"loc(" in content) and _has_locations(module, format)
    return Source(module, context, format, gzipped, version, located, data, name)


def write(source: Source, emit: Format | None = None) -> bytes:
    """The module as it is now, in the form of its file, or in the form `emit`. Gzip is kept."""
    format = emit or source.format
    if format == "hlo":
        raise FileError(source.name, _HLO_REFUSED)
    _verify(source)
    if format == "text":
        content = text_of(source)
    elif format == "bytecode":
        content = bytecode_of(source.module)
    else:
        content = _portable(source)
    # Not by the gzip module: its headers differ between Python versions.
    return zlib.compress(content, wbits=31) if source.gzipped else content


def text_of(source: Source) -> bytes:
    """The module as it is now, as jax prints modules."""
    operation = source.module.operation
    text = operation.get_asm(binary=True, enable_debug_info=source.located, assume_verified=True)
    assert isinstance(text, bytes)
    return text


def text_of_file(source: Source) -> bytes:
    """The module as it was read, as text; a text file's own text. To be asked before a change."""
    if source.format != "text":
        return text_of(source)
    return _gunzip(source.data, source.name) if source.gzipped else source.data


def _from_hlo(content: bytes, name: str, allowed: bool) -> bytes:
    if not allowed:
        raise FileError(name, _HLO_REFUSED)
    if is_scheduled(content):
        raise FileError(name, _SCHEDULED_REFUSED)
    try:
        return stablehlo_from_hlo(content.decode())
    except NotImplementedError as error:
        what = "HLO text, which this jaxlib cannot read; jaxlib 0.6.0 to 0.12 can"
        raise FileError(name, what) from error
    except RuntimeError as error:
        raise _hlo_error(name, str(error)) from error


_HLO_SYNTAX_ERROR = re.compile(r"was parsing (\d+):(\d+): error: ([^\n]*)")


def _hlo_error(name: str, message: str) -> FileError:
    """The first of XLA's reasons. An older XLA cannot read what a newer one writes."""
    found = _HLO_SYNTAX_ERROR.search(message)
    where = f"{name}:{found[1]}:{found[2]}" if found else name
    what = found[3].strip() if found else message.strip().partition("\n")[0]
    reader = f"jaxlib {jaxlib_version()} cannot read this HLO text"
    return FileError(where, f"{reader}, which a newer XLA may have written: {what}")


def _parse(content: bytes, format: Format, context: ir.Context, name: str) -> ir.Module:
    with diagnostics(context) as errors:
        try:
            if format == "portable":
                return portable_from_bytes(context, content)
            return ir.Module.parse(content, context)
        except (ir.MLIRError, ValueError) as error:
            raise _parse_error(content, format, errors, name) from error


def _parse_error(content: bytes, format: Format, errors: list[Diagnostic], name: str) -> FileError:
    what = _words(errors)
    if format == "text":
        position = buffer_position(errors[0].location) if errors else None
        if position is None:
            return FileError(name, what)
        line, column = position
        if _is_last_token(content, line, column):
            what += " (the file ends here)"
        return FileError(f"{name}:{line}:{column}", what)
    if format == "bytecode":
        return FileError(name, f"MLIR bytecode that cannot be read: {what}")
    version = f"StableHLO {portable_version(content)}"
    reader = f"this jaxlib has StableHLO {stablehlo_version()}"
    return FileError(name, f"portable artifact of {version} that cannot be read ({reader}): {what}")


def _is_last_token(content: bytes, line: int, column: int) -> bool:
    lines = content.rstrip().split(b"\n")
    return line >= len(lines) and len(lines[-1][column - 1 :].split()) <= 1


def _words(errors: list[Diagnostic]) -> str:
    """The first error, its Python line, and MLIR's notes other than the op's printed form."""
    if not errors:
        return "MLIR gives no reason"
    first = errors[0]
    line = source_line(first.location)
    notes = [note for note in first.notes if not note.startswith("see current operation")]
    return "; ".join([first.message + (f", at {line}" if line else ""), *notes])


def _refuse_vhlo(module: ir.Module, name: str) -> None:
    found: list[str] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        """Of the top ops alone. Iterating over them would load jaxlib's classes for them."""
        if op.name.startswith("vhlo."):
            found.append(op.name)
        return SKIP if op.parent is not None else ADVANCE

    module.operation.walk(look, PRE_ORDER)
    if found:
        what = f"VHLO ({found[0]}), which only a portable artifact may hold"
        raise FileError(name, f"this is {what}; {WANTED}")


def _has_locations(module: ir.Module, format: Format) -> bool:
    """Whether any op says where it comes from. Text that spells `loc(unknown)` does."""
    found = False

    def look(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        loc = op.location
        is_unknown = format != "text" and loc == ir.Location.unknown(module.context)
        found = buffer_position(loc) is None and not is_unknown
        return INTERRUPT if found else ADVANCE

    module.operation.walk(look, PRE_ORDER)
    return found


def _verify(source: Source) -> None:
    with diagnostics(source.context) as errors:
        try:
            if source.module.operation.verify():
                return
        except ir.MLIRError:
            pass
    raise SchedscopeError(
        "the result is no valid module, which is a bug in schedscope; nothing is written: "
        + _words(errors)
    )


def _portable(source: Source) -> bytes:
    version = source.version or stablehlo_export_version()
    with diagnostics(source.context) as errors:
        try:
            return portable_to_bytes(source.module, version)
        except (ir.MLIRError, ValueError) as error:
            what = f"cannot be a portable artifact of StableHLO {version}: {_words(errors)}"
            raise FileError(source.name, what) from error


def _gunzip(data: bytes, name: str) -> bytes:
    import gzip  # not before it is needed: the command has to start fast

    try:
        return gzip.decompress(data)
    except EOFError as error:
        raise FileError(name, "the gzip data is truncated") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileError(name, f"the gzip data is damaged: {error}") from error
