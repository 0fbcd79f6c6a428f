"""The one door to jaxlib's MLIR bindings; what differs between jaxlib versions is settled here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from jaxlib.mlir import ir as ir

if TYPE_CHECKING:  # the class has a parameter since jaxlib 0.10
    Value: TypeAlias = ir.Value[Any]
else:
    Value = ir.Value

_DIALECTS = (
    ("_stablehlo", "register_dialect"),
    ("_chlo", "register_dialect"),
    ("_mlirHlo", "register_mhlo_dialect"),
    ("_sdy", "register_dialect"),
    ("_sdyMpmd", "register_dialect"),
)
"""Extension modules that hold a dialect jax emits, and the function that registers it.
`_sdyMpmd` came with jaxlib 0.8; the rest are in every version we support."""

_UPSTREAM = ("_jax_mlir_ext", "register_jax_dialects")
"""Where func, arith and the other upstream dialects are registered: the first name since
jaxlib 0.7, the second before."""

ADVANCE = ir.WalkResult.ADVANCE
INTERRUPT = ir.WalkResult.INTERRUPT
SKIP = ir.WalkResult.SKIP
PRE_ORDER = ir.WalkOrder.PRE_ORDER


def make_context() -> ir.Context:
    """A fresh context in which every dialect that jax emits parses; jax is not imported."""
    context = ir.Context()
    registry = ir.DialectRegistry()
    _first_extension(_UPSTREAM).register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for name, register in _DIALECTS:
        extension = _extension(name)
        if extension is not None:
            getattr(extension, register)(context)
    return context


def _extension(name: str) -> Any:
    try:
        return import_module(f"jaxlib.mlir._mlir_libs.{name}")
    except ModuleNotFoundError:
        return None


def _first_extension(names: tuple[str, ...]) -> Any:
    for name in names:
        extension = _extension(name)
        if extension is not None:
            return extension
    raise ImportError(
        f"this jaxlib has none of {', '.join(names)}; schedscope needs jaxlib 0.6.0 or newer"
    )


def entries_of(attribute: ir.DictAttr) -> dict[str, ir.Attribute]:
    """A dictionary attribute as a dict, in its own order, which is by name."""
    # To iterate takes an exception for the end, which costs more than all the rest.
    entries = [attribute[number] for number in range(len(attribute))]
    return {named.name: named.attr for named in entries}


def attributes_of(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The attributes of `op`; the bindings iterate over names or over pairs, as the version is."""
    listed: Any = op.attributes
    names = [each if isinstance(each, str) else each.name for each in listed]
    return {name: op.attributes[name] for name in names}


def block_of(op: ir.Operation) -> ir.Block:
    """The block that holds `op`; jaxlib has `Operation.block` since 0.7."""
    return op.block if _HAS_BLOCK else ir.InsertionPoint(op).block


def clone_after(op: ir.Operation, place: ir.Operation) -> ir.Operation:
    """A copy of `op`, put right after `place`."""
    # Without an insertion point the clone belongs to its Python object, and dies with it.
    clone = op.clone(ir.InsertionPoint(place)).operation
    clone.move_after(place)
    return clone


_HAS_BLOCK = hasattr(ir.Operation, "block")


class Position(NamedTuple):
    """What a file location says. Without a range, `end` equals `start`."""

    file: str
    start: tuple[int, int]
    end: tuple[int, int]


# Up to jaxlib 0.9 every location is an `ir.Location` with questions; since 0.10 each kind has a
# class of its own, and the questions are gone. The stubs know the newer kind only, hence `Any`.
_HAS_LOCATION_CLASSES = hasattr(ir, "NameLoc")


def name_and_child(loc: Any) -> tuple[str, ir.Location] | None:
    """The two parts of `"name"(child)`; None for every other location."""
    is_name = isinstance(loc, ir.NameLoc) if _HAS_LOCATION_CLASSES else loc.is_a_name()
    return (loc.name_str, loc.child_loc) if is_name else None


def callee_and_caller(loc: Any) -> tuple[ir.Location, ir.Location] | None:
    """The two parts of `callsite(callee at caller)`; None for every other location."""
    is_call = isinstance(loc, ir.CallSiteLoc) if _HAS_LOCATION_CLASSES else loc.is_a_callsite()
    return (loc.callee, loc.caller) if is_call else None


def fused_parts(loc: Any) -> list[ir.Location]:
    """The parts of `fused[...]`; empty for every other location."""
    is_fused = isinstance(loc, ir.FusedLoc) if _HAS_LOCATION_CLASSES else loc.is_a_fused()
    return list(loc.locations) if is_fused else []


def position_of(loc: Any) -> Position | None:
    """What `"file":line:column` says; None for every other location."""
    is_file = isinstance(loc, ir.FileLineColLoc) if _HAS_LOCATION_CLASSES else loc.is_a_file()
    if not is_file:
        return None
    return Position(loc.filename, (loc.start_line, loc.start_col), (loc.end_line, loc.end_col))


class Diagnostic(NamedTuple):
    """An error that MLIR reported."""

    location: ir.Location
    message: str
    notes: tuple[str, ...]


@contextmanager
def diagnostics(context: ir.Context) -> Iterator[list[Diagnostic]]:
    """Collects the errors that MLIR reports meanwhile; nothing is printed.

    The bindings' own collection, which ends up in `MLIRError.error_diagnostics`, aborts the process
    on a message that is not UTF-8, as corrupt bytecode gives; hence it is switched off here."""
    errors: list[Diagnostic] = []

    def collect(diagnostic: Any) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            errors.append(_read_diagnostic(diagnostic))
        return True

    context.emit_error_diagnostics = True
    handler: Any = context.attach_diagnostic_handler(collect)
    try:
        yield errors
    finally:
        handler.detach()
        context.emit_error_diagnostics = False  # as in a new context; old jaxlibs cannot say


def _read_diagnostic(diagnostic: Any) -> Diagnostic:
    try:
        notes = tuple(note.message for note in diagnostic.notes)
        return Diagnostic(diagnostic.location, diagnostic.message, notes)
    except RuntimeError:  # the bindings found bytes that are not UTF-8
        return Diagnostic(diagnostic.location, "MLIR's message is not text", ())


def portable_from_bytes(context: ir.Context, artifact: bytes) -> ir.Module:
    """The module of a StableHLO portable artifact. Raises ValueError, and reports why."""
    module: ir.Module = import_module(_STABLEHLO).deserialize_portable_artifact(context, artifact)
    return module


def portable_to_bytes(module: ir.Module, version: str) -> bytes:
    """`module` as a StableHLO portable artifact. Raises ValueError, and reports why."""
    serialize = import_module(_STABLEHLO).serialize_portable_artifact
    # jaxlib rewrites the module it is given into the VHLO dialect.
    clone = ir.Module.parse(bytecode_of(module), module.context)
    # Since jaxlib 0.7 other dialects (sdy) may be in it, when asked.
    mixed = (True,) if "allow_other_dialects" in serialize.__doc__ else ()
    artifact: bytes = serialize(clone, version, *mixed)
    return artifact


def bytecode_of(module: ir.Module, version: int | None = None) -> bytes:
    """`module` as MLIR bytecode, of the newest version of the format unless one is given."""
    buffer = BytesIO()
    module.operation.write_bytecode(buffer, version)
    return buffer.getvalue()


def bytecode_holds(module: ir.Module, needle: bytes) -> bool:
    """Whether `needle` is in the bytecode of `module`, which is not kept."""
    sieve = _Sieve(needle)
    module.operation.write_bytecode(sieve)
    return sieve.held()


class _Sieve:
    """A file that tells of all that is written whether it held `needle`."""

    def __init__(self, needle: bytes) -> None:
        self._needle = needle
        self._found = False
        self._pieces: list[bytes] = []
        """What has not been searched; MLIR writes many small pieces."""
        self._size = 0

    def write(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > _SEARCHED_AT_ONCE:
            self._search()

    def held(self) -> bool:
        self._search()
        return self._found

    def _search(self) -> None:
        searched = b"".join(self._pieces)
        self._found = self._found or self._needle in searched
        rest = searched[-len(self._needle) :]
        self._pieces, self._size = [rest], len(rest)


_SEARCHED_AT_ONCE = 1 << 20


def jaxlib_version() -> str:
    return str(import_module("jaxlib.version").__version__)


def stablehlo_from_hlo(text: str) -> bytes:
    """StableHLO bytecode of XLA's HLO text, source locations included. Raises RuntimeError with
    XLA's reasons, and NotImplementedError where this jaxlib has no such conversion."""
    parse = _xla("hlo_module_from_text")
    convert = getattr(_xla("mlir"), "hlo_to_stablehlo", None)
    if parse is None or convert is None:
        raise NotImplementedError
    bytecode: bytes = convert(parse(text).as_serialized_hlo_module_proto())
    return bytecode


def _xla(name: str) -> Any:
    """What jaxlib keeps in one of its extension modules: `_hlo` since 0.10, `_jax` since 0.7,
    `xla_extension` before."""
    for module in ("jaxlib._hlo", "jaxlib._jax", "jaxlib.xla_extension"):
        try:
            found = getattr(import_module(module), name, None)
        except ModuleNotFoundError:
            continue
        if found is not None:
            return found
    return None


def stablehlo_version() -> str:
    """The StableHLO version of this jaxlib, as in "1.13.0"."""
    version: str = import_module(_STABLEHLO).get_current_version()
    return version


def stablehlo_export_version() -> str:
    """The version that jax.export writes: one that consumers four weeks older can read."""
    stablehlo = import_module(_STABLEHLO)
    four_weeks = stablehlo.StablehloCompatibilityRequirement.WEEK_4
    version: str = stablehlo.get_version_from_compatibility_requirement(four_weeks)
    return version


_STABLEHLO = "jaxlib.mlir._mlir_libs._stablehlo"
