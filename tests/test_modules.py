"""Reading and writing modules: every format, locations, versions, and what cannot be read."""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from dataclasses import replace
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from schedscope import modules
from schedscope._mlir import portable_to_bytes
from schedscope.errors import FileError, SchedscopeError
from schedscope.formats import Format
from schedscope.modules import Source

from tests.jax_versions import OTHER_DIALECTS, SHARDY, VHLO_PARSES, needs, shard_map

FORMATS: tuple[Format, ...] = ("text", "bytecode", "portable")

BARE = """\
module @m {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


def read(data: str | bytes) -> Source:
    return modules.read(data.encode() if isinstance(data, str) else data, "file.mlir")


DIALECTS = ("func", "stablehlo", "chlo", "mhlo", *(["sdy"] if SHARDY else []))


@cache
def jax_text() -> str:
    """A module of jax's own, with locations, that uses all of `DIALECTS`."""
    mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")

    @jax.jit
    def helper(x: jax.Array) -> jax.Array:
        return jax.lax.psum(jax.lax.erf_inv(x), "i") + jnp.cumsum(x)

    def program(x: jax.Array) -> jax.Array:
        mapped = shard_map(helper, mesh=mesh, in_specs=spec, out_specs=spec)
        return mapped(x)

    return jax.jit(program).lower(jnp.ones(16)).as_text(debug_info=True)


def test_text_that_jax_prints_comes_back_as_it_was() -> None:
    text = jax_text()
    assert all(f"{word}." in text for word in DIALECTS)
    source = read(text)
    assert (source.format, source.gzipped, source.located) == ("text", False, True)
    assert modules.write(source).decode() == text


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("gzipped", [False, True])
def test_every_format_is_told_by_content_and_comes_back(format: Format, gzipped: bool) -> None:
    if format == "portable":
        needs(*OTHER_DIALECTS)
    data = modules.write(read(jax_text()), format)
    if gzipped:
        data = zlib.compress(data, wbits=31)
    source = read(data)
    assert (source.format, source.gzipped) == (format, gzipped)
    assert modules.write(source) == data
    assert modules.text_of_file(source) == modules.text_of(source)
    assert [line for line in locations(modules.text_of(source)) if "test_modules.py" in line]


def locations(text: bytes) -> list[str]:
    return re.findall(r"loc\(.*", text.decode())


@pytest.mark.parametrize("emit", FORMATS)
def test_emit_changes_the_format_and_keeps_gzip(emit: Format) -> None:
    source = read(zlib.compress(BARE.encode(), wbits=31))
    result = read(modules.write(source, emit))
    assert (result.format, result.gzipped) == (emit, True)
    assert modules.text_of(result).decode() == BARE


def test_gzip_says_no_time() -> None:
    data = modules.write(read(zlib.compress(BARE.encode(), wbits=31)))
    assert data[4:8] == bytes(4)


def test_bytecode_keeps_all_of_the_text() -> None:
    text = jax_text()
    data = modules.write(read(text), "bytecode")
    assert modules.write(read(data), "text").decode() == without_ends_of_lines(text)


def without_ends_of_lines(text: str) -> str:
    """MLIR's bytecode drops the end of a range that starts in column 0, as a frame has that is a
    whole statement: a test runner's, for one."""
    return re.sub(r"(:\d+:0) to (\d*:)\d+", r"\1", text)


@pytest.mark.parametrize("version", ["1.9.0", "1.10.0"])
def test_portable_artifact_keeps_its_version(version: str) -> None:
    data = portable_to_bytes(read(BARE).module, version)
    source = read(data)
    assert (source.format, source.version) == ("portable", version)
    again = modules.write(source)
    assert f"StableHLO_v{version}\0".encode() in again
    assert read(modules.write(source, "portable")).version == version


def test_writing_a_portable_artifact_leaves_the_module_alone() -> None:
    needs(*OTHER_DIALECTS)
    source = read(jax_text())
    modules.write(source, "portable")
    assert modules.text_of(source).decode() == jax_text()


def test_jax_runs_the_artifact_that_we_wrote() -> None:
    exported = export.export(jax.jit(lambda x: jnp.sin(x) * 3))(jnp.ones(4))
    source = read(exported.mlir_module_serialized)
    assert source.format == "portable"
    again = replace(exported, mlir_module_serialized=modules.write(source))
    np.testing.assert_array_equal(again.call(jnp.ones(4)), exported.call(jnp.ones(4)))


def test_text_without_locations_gets_none() -> None:
    source = read(BARE)
    assert not source.located
    assert modules.write(source).decode() == BARE


def test_the_word_loc_in_a_string_is_no_location() -> None:
    text = BARE.replace("%arg0 : tensor", '%arg0 {note = "loc(unknown)"} : tensor')
    assert modules.write(read(text)).decode() == text


def test_one_location_in_the_text_is_kept() -> None:
    text = BARE.replace("tanh %arg0 : tensor<4xf32>", 'tanh %arg0 : tensor<4xf32> loc("t.py":3:1)')
    assert 'loc("t.py":3:1)' in modules.write(read(text)).decode()


def test_unknown_locations_are_kept_where_text_spells_them() -> None:
    text = re.sub(r"(<4xf32>|})$", r"\1 loc(unknown)", BARE, flags=re.MULTILINE)
    assert "loc(#loc)" in modules.write(read(text)).decode()
    for spelled in (text, BARE):
        bytecode = modules.write(read(spelled), "bytecode")
        assert modules.write(read(bytecode), "text").decode() == BARE


def test_generic_form_is_read() -> None:
    generic = read(BARE).module.operation.get_asm(print_generic_op_form=True)
    assert isinstance(generic, str)
    assert '"stablehlo.tanh"' in generic
    assert modules.write(read(generic)).decode() == BARE


def test_large_constants_are_printed_whole() -> None:
    numbers = np.arange(100_000, dtype=np.int32)
    values = ", ".join(map(str, numbers))
    constant = f"    %c = stablehlo.constant dense<[{values}]> : tensor<100000xi32>\n"
    written = modules.write(read(BARE.replace("    %0", constant + "    %0", 1))).decode()
    assert f'dense<"0x{numbers.tobytes().hex().upper()}">' in written


def test_every_dialect_parses_without_jax(tmp_path: Path) -> None:
    path = tmp_path / "jax.mlir"
    path.write_text(jax_text())
    code = (
        "import sys; from schedscope import modules\n"
        "source = modules.read(open(sys.argv[1], 'rb').read(), 'file')\n"
        "dialects = {line.split('.')[0] for line in modules.text_of(source).decode().split()}\n"
        "print('jax' in sys.modules, dialects.issuperset(sys.argv[2:]))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code, str(path), *DIALECTS],
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("format", ["bytecode", "portable"])
def test_truncated_anywhere_it_is_one_error_and_no_output(
    capfd: pytest.CaptureFixture[str], format: Format
) -> None:
    data = modules.write(read(BARE), format)
    for size in range(0, len(data), 5):
        with pytest.raises(FileError, match=r"^file\.mlir: "):
            read(data[:size])
    assert capfd.readouterr() == ("", "")


def test_an_error_names_where_and_what() -> None:
    with pytest.raises(FileError) as caught:
        read(BARE.replace("stablehlo.tanh", "stablehlo.tahn"))
    assert caught.value.where == "file.mlir:3:10"
    assert caught.value.what.startswith("custom op 'stablehlo.tahn' is unknown")
    assert str(caught.value) == f"{caught.value.where}: {caught.value.what}"


def test_artifact_of_a_newer_stablehlo_says_both_versions() -> None:
    data = portable_to_bytes(read(BARE).module, "1.9.0").replace(b"_v1.9.0", b"_v9.9.9")
    with pytest.raises(FileError, match=r"StableHLO 9\.9\.9 .*this jaxlib has StableHLO 1\."):
        read(data[:-20])


def test_vhlo_outside_an_artifact_is_refused() -> None:
    data = portable_to_bytes(read(BARE).module, "1.9.0").replace(
        b"StableHLO_v1.9.0", b"MLIR24.0.0git123"
    )
    refused = r"this is VHLO \(vhlo.func_v1\)" if VHLO_PARSES else "dialect 'vhlo' is unknown"
    with pytest.raises(FileError, match=refused):
        read(data)


def test_a_module_that_no_longer_verifies_is_not_written(
    capfd: pytest.CaptureFixture[str],
) -> None:
    source = read(BARE)
    function = source.module.body.operations[0].operation
    function.regions[0].blocks[0].operations[1].operation.erase()
    with pytest.raises(SchedscopeError, match="bug in schedscope"):
        modules.write(source)
    assert capfd.readouterr() == ("", "")
