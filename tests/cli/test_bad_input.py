"""What cannot be understood, read or written: status 2, one message, and nothing is written."""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from tests.cli.conftest import Command, Result
from tests.cli.samples import LOCATED, ONCE, TWICE, encoded

LAYER_RETURNS = "    return %0 : tensor<8x8xf32> loc(#loc)\n"
CALL = "call @layer(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>"

RECURSIVE = LOCATED.replace(
    LAYER_RETURNS, f"    %1 = {CALL} loc(#loc5)\n    return %1 : tensor<8x8xf32> loc(#loc)\n"
)
CALLS_EACH_OTHER = RECURSIVE.replace(CALL, CALL.replace("layer", "other")).replace(
    "  func.func private @layer",
    "  func.func private @other(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
    f"    %0 = {CALL.replace('%0', '%arg0')} loc(#loc4)\n{LAYER_RETURNS}  }} loc(#loc)\n"
    "  func.func private @layer",
)
CALLS_A_STRANGER = LOCATED.replace("@layer(%0)", "@gone(%0)")
IN_A_REDUCER = """\
module {
  func.func public @main(%a: tensor<4xf32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = "stablehlo.reduce"(%a, %b) <{dimensions = array<i64: 0>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y {mhlo.frontend_attributes = {_scheduling_group_id = "ID"}} \
: tensor<f32> loc("add"("total"("train.py":9:4 to :8)))
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
"""
ON_A_FUNCTION = TWICE.replace(
    "@layer(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {",
    "@layer(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> "
    'attributes {mhlo.frontend_attributes = {_scheduling_group_id = "ID"}} {',
)

BAD_IDS = {
    "abc": "not an integer",
    "-1": "negative",
    "1:2:3": "3 fields",
    "": "no integer",
    str(2**63): "64 bits",
    str(2**64): "64 bits",
    "0,1": "not an integer",
}


@pytest.fixture
def refused(schedscope: Command, tmp_path: Path) -> RefusedBy:
    return RefusedBy(schedscope, tmp_path)


class RefusedBy:
    """Tries a file every way there is of writing a result."""

    def __init__(self, schedscope: Command, directory: Path) -> None:
        self._schedscope = schedscope
        self._directory = directory

    def __call__(self, data: str | bytes, name: str = "bad.mlir") -> str:
        """The message, which follows the file's name."""
        content = data.encode() if isinstance(data, str) else data
        path = self._directory / name
        path.write_bytes(content)
        out = self._directory / "out.mlir"
        results = [
            self._schedscope("fix", path),
            self._schedscope("fix", path, "-o", out),
            self._schedscope("fix", path, "--in-place"),
            self._schedscope("fix", path, "--check"),
            self._schedscope("fix", path, "--diff"),
        ]
        assert len(set(results)) == 1, results
        assert path.read_bytes() == content
        assert list(self._directory.iterdir()) == [path]
        return the_message(results[0], str(path))


def the_message(result: Result, about: str) -> str:
    assert (result.status, result.out) == (2, b""), result
    lines = result.err.splitlines()
    assert len(lines) == 1, result.err
    assert lines[0].startswith(about), result.err
    return lines[0].removeprefix(about)


@pytest.mark.parametrize("text", BAD_IDS)
def test_malformed_id(refused: RefusedBy, text: str) -> None:
    message = refused(LOCATED.replace('"0"', f'"{text}"'))
    assert message.startswith(': error: "stablehlo.multiply" at train.py:20: ')
    assert f'"{text}"' in message
    assert BAD_IDS[text] in message


def test_malformed_id_without_locations_is_found_by_its_line_of_the_text(
    refused: RefusedBy,
) -> None:
    text = TWICE.replace('"0"', '"abc"')
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "abc" in each)
    message = refused(text)
    assert message.startswith(
        f': error: "stablehlo.dot_general" in line {line} of the text: "abc" '
    )


def test_id_that_is_no_string(refused: RefusedBy) -> None:
    message = refused(LOCATED.replace('id = "0"', "id = 7 : i64"))
    assert message.startswith(': error: "stablehlo.multiply" at train.py:20: ')
    assert "7 : i64, wanted a string" in message


@pytest.mark.parametrize("id", ["abc", "-1"])
def test_malformed_id_where_jax_never_puts_one(refused: RefusedBy, id: str) -> None:
    message = refused(IN_A_REDUCER.replace("ID", id))
    assert message.startswith(f': error: "stablehlo.add" at train.py:9: "{id}" ')
    message = refused(ON_A_FUNCTION.replace("ID", id))
    assert message.startswith(': error: "func.func"')
    assert f'"{id}"' in message


def test_good_id_where_jax_never_puts_one(schedscope: Command) -> None:
    text = IN_A_REDUCER.replace("ID", "5").encode()
    result = schedscope("fix", "-", stdin=text)
    assert (result.status, result.out) == (0, text)


def test_recursive_call(refused: RefusedBy) -> None:
    message = refused(RECURSIVE)
    assert message == (
        ': error: "func.call" at train.py:32: '
        "recursive call, which XLA cannot inline: @layer -> @layer"
    )
    message = refused(CALLS_EACH_OTHER)
    assert re.search(r'"func.call" at train.py:3[12]: recursive call', message)
    assert "@other" in message


def test_call_of_a_missing_function(refused: RefusedBy) -> None:
    message = refused(CALLS_A_STRANGER)
    assert message == (
        ": error: 'func.call' op 'gone' does not reference a valid function, at train.py:32"
    )


def test_called_computation_that_is_missing(refused: RefusedBy) -> None:
    call = "stablehlo.custom_call @f(%arg0) {called_computations = [@gone]} : "
    text = ONCE.replace("call @layer(%arg0) : ", call)
    message = refused(text)
    assert "stablehlo.custom_call" in message
    assert "@gone" in message


def test_syntax_error_is_found_in_the_file(refused: RefusedBy) -> None:
    line = TWICE.splitlines().index("    return %1 : tensor<8x8xf32>") + 1
    message = refused(TWICE.replace("return %1", "retrun %1", 1))
    assert message.startswith(f":{line}:5: error: custom op 'retrun' is unknown")
    message = refused(zlib.compress(TWICE.replace("return %1", "retrun %1", 1).encode(), wbits=31))
    assert message.startswith(f":{line}:5: error: custom op 'retrun' is unknown")


def test_op_that_does_not_verify(refused: RefusedBy) -> None:
    wrong = LOCATED.replace("return %1 : tensor<8x8xf32> loc(#loc)", "return loc(#loc4)")
    message = refused(wrong)
    assert message.startswith(": error: 'func.return' op has 0 operands")
    assert message.endswith("at train.py:31")


def test_truncated_text(refused: RefusedBy) -> None:
    message = refused(LOCATED[:400])
    assert re.fullmatch(r":8:67: error: .* \(the file ends here\)", message)
    assert "no module" in refused("#loc = loc(unknown)\n")


@pytest.mark.parametrize("format", ["bytecode", "portable"])
def test_truncated_bytecode(refused: RefusedBy, format: str) -> None:
    data = encoded(TWICE, "bytecode" if format == "bytecode" else "portable")
    what = {
        "bytecode": ": error: MLIR bytecode that cannot be read: ",
        "portable": ": error: portable artifact of StableHLO ",
    }
    for size in (6, 40, len(data) // 2, len(data) - 1):
        assert refused(data[:size]).startswith(what["bytecode" if size == 6 else format]), size


def test_truncated_gzip(refused: RefusedBy) -> None:
    data = encoded(TWICE, "text", gzipped=True)
    assert refused(data[: len(data) // 2]) == ": error: the gzip data is truncated"
    assert refused(data[:-8] + bytes(8)).startswith(": error: the gzip data is damaged: ")


def test_bytecode_whose_error_message_is_no_text(refused: RefusedBy) -> None:
    """MLIR quotes the byte that it stumbles over; the bindings by themselves abort the process."""
    data = encoded(TWICE, "bytecode")
    message = refused(data.replace(b"MLIR", b"ML\xff\xfe", 1)[:60])
    assert message.startswith(": error: MLIR bytecode that cannot be read: ")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "empty"),
        (b" \n\n", "blank"),
        (b"\x7fELF\x02\x01\x01\x00\x00", "binary data (a zero byte at offset 7)"),
        (b"caf\xe9", "binary data (not UTF-8 at offset 3)"),
        ("module {}".encode("utf-16"), "binary data (a zero byte at offset 3)"),
        (zlib.compress(b"", wbits=31), "empty"),
        (b"{ lambda ; a:f32[]. let in (a,) }", "a jaxpr"),
        (b'hlo_module {\n  name: "jit_f"\n}', "HLO as protocol buffer text"),
    ],
)
def test_what_is_no_module(refused: RefusedBy, data: bytes, what: str) -> None:
    wanted = "wanted: StableHLO as MLIR text, MLIR bytecode or a portable artifact"
    assert refused(data) == f": error: this is {what}; {wanted}"


def test_what_jax_and_xla_write_beside_modules(refused: RefusedBy) -> None:
    function = jax.jit(jnp.sin)
    lowered = function.lower(1.0)
    hlo = lowered.compiler_ir("hlo")
    assert hlo is not None
    proto = hlo.as_serialized_hlo_module_proto()
    assert "this is HLO text;" in refused(lowered.as_text("hlo"))
    assert "this is HLO text;" in refused(lowered.compile().as_text() or "")
    assert "this is a binary HLO protocol buffer;" in refused(proto)
    length = bytes([len(proto) & 0x7F | 0x80, len(proto) >> 7])
    assert len(proto) < 1 << 14
    assert "this is a binary HLO protocol buffer;" in refused(b"\n" + length + proto)
    exported = bytes(16) + encoded(TWICE, "portable")  # the real one needs flatbuffers
    assert "one begins at byte 16, as in a serialized jax.export.Exported" in refused(exported)


def test_directory_and_missing_file(schedscope: Command, tmp_path: Path) -> None:
    for options in ([], ["--in-place"], ["--check"]):
        message = the_message(schedscope("fix", tmp_path, *options), str(tmp_path))
        assert message == ": error: Is a directory"
        missing = tmp_path / "missing.mlir"
        message = the_message(schedscope("fix", missing, *options), str(missing))
        assert message == ": error: No such file or directory"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["-o", "--report"])
@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("directory", "Is a directory"),
        ("missing/out", "No such file or directory"),
        ("bad.mlir/out", "Not a directory"),
    ],
)
def test_output_that_cannot_be_written(
    schedscope: Command, tmp_path: Path, option: str, place: str, reason: str
) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(TWICE)
    (tmp_path / "directory").mkdir()
    target = tmp_path / place
    more = ["--in-place"] if option == "--report" else []
    message = the_message(schedscope("fix", path, option, target, *more), str(target))
    assert message == f": error: {reason}"
    assert path.read_text() == TWICE
    assert sorted(item.name for item in tmp_path.iterdir()) == ["bad.mlir", "directory"]
    assert list((tmp_path / "directory").iterdir()) == []


def test_read_only_file_is_not_replaced(
    schedscope: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory would let us. `access` is replaced since the superuser may write everywhere."""
    path = tmp_path / "twice.mlir"
    path.write_text(TWICE)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    message = the_message(schedscope("fix", "--in-place", path), str(path))
    assert message == ": error: Permission denied"
    assert path.read_text() == TWICE


def test_module_that_the_format_cannot_hold(schedscope: Command, tmp_path: Path) -> None:
    extended = "stablehlo.add %0, %arg0 {x = #stablehlo.type_extensions<bounds = [1]>}"
    path = tmp_path / "odd.mlir"
    path.write_text(TWICE.replace("stablehlo.add %0, %arg0", extended))
    result = schedscope("fix", path, "--emit", "portable", "-o", tmp_path / "out")
    message = the_message(result, str(path))
    assert message.startswith(": error: cannot be a portable artifact of StableHLO ")
    assert "stablehlo.add" in message
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["fix"], "the following arguments are required: FILE"),
        (["fix", "a", "b"], "several FILEs need --in-place, --check or --diff"),
        (["fix", "a", "b", "-o", "c"], "several FILEs need --in-place, --check or --diff"),
        (["fix", "-", "-", "--check"], "- is given more than once"),
        (["fix", "-", "--in-place"], "--in-place replaces files, and - is standard input"),
        (["fix", "a", "--check", "--diff"], "not allowed with argument"),
        (["fix", "a", "-o", "b", "--in-place"], "not allowed with argument"),
        (["fix", "a", "--check", "--emit", "text"], "--check and --diff write nothing"),
        (["fix", "a", "--report", "-"], "would both go to standard output"),
        (["fix", "a", "--diff", "--report", "-"], "would both go to standard output"),
        (["fix", "a", "-o", "-", "--report", "-"], "would both go to standard output"),
        (["fix", "a", "-o", "b", "--report", "b"], "--report would overwrite b"),
        (["fix", "a", "--check", "--report", "a"], "--report would overwrite a"),
        (["fix", "a", "--emit", "hlo"], "invalid choice: 'hlo'"),
        (["fix", "a", "--keep-global", "0,x"], "'0,x' is not a list of group ids, such as 0,3"),
        (["fix", "a", "--keep-global", ""], "'' is not a list of group ids, such as 0,3"),
        (["fix", "a", "--keep-global=-1"], "'-1' is not a list of group ids, such as 0,3"),
        (["fix", "a", "--in"], "unrecognized arguments: --in"),
        (["fix", "a", "--verbosity=1"], "unrecognized arguments: --verbosity=1"),
        (["mend", "a"], "invalid choice: 'mend'"),
    ],
)
def test_wrong_usage(schedscope: Command, arguments: list[str], message: str) -> None:
    result = schedscope(*arguments)
    assert (result.status, result.out) == (2, b"")
    assert result.err.startswith("usage: schedscope")
    assert message in result.err.splitlines()[-1]
