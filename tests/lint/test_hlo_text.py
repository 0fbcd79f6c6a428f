"""HLO text, which XLA dumps, in the place of StableHLO."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from schedscope import modules
from schedscope.errors import FileError
from schedscope.lint.checker import lint_module
from schedscope.lint.diagnostic import Diagnostic

from tests.jax_versions import VERSION, needs
from tests.lint.test_testing import exchange, mapped

PROGRAM = """\
import jax
import jax.numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata

@jax.jit
def layer(x):
    with set_xla_metadata(_scheduling_group_id=3):
        y = x @ x
        z = jnp.cumsum(x, axis=0)
    return y + z

def step(x):
    return layer(layer(x))

if __name__ == "__main__":
    jax.jit(step).lower(jnp.ones((8, 8))).compile()
"""

HLO = """\
HloModule jit_step, entry_computation_layout={(f32[8,8]{1,0})->f32[8,8]{1,0}}

ENTRY %main.5 (x.1: f32[8,8]) -> f32[8,8] {
  %x.1 = f32[8,8]{1,0} parameter(0), metadata={op_name="x"}
  %ppermute.1 = f32[8,8]{1,0} collective-permute(%x.1), channel_id=1, \
source_target_pairs={{0,1},{1,0}}, frontend_attributes={_scheduling_group_id="5"}, \
metadata={op_name="ppermute" source_file="train.py" source_line=3}
  %big = f32[8,8]{1,0} constant({...})
  %add.1 = f32[8,8]{1,0} add(%ppermute.1, %big), \
metadata={op_name="add" source_file="train.py" source_line=4}
  ROOT %ppermute.2 = f32[8,8]{1,0} collective-permute(%add.1), channel_id=1, \
source_target_pairs={{0,1},{1,0}}, frontend_attributes={_scheduling_group_id="5"}, \
metadata={op_name="ppermute" source_file="train.py" source_line=6}
}
"""


def lint(text: str) -> list[Diagnostic]:
    return lint_module(modules.read(text.encode(), "dump.txt", hlo=True).module, "gpu")


def test_a_dump_is_linted_at_its_python_lines() -> None:
    needs((0, 7), "reader of today's HLO text")
    dump = HLO.replace("add(%ppermute.1, %big)", "add(%ppermute.1, %x.1)")
    (gap,) = lint(dump)
    assert gap.code == "SG101"
    spots = [related.spot for related in gap.related] + [gap.spot]
    assert [(spot.frames[0].file, spot.frames[0].line) for spot in spots] == [
        ("train.py", 3),
        ("train.py", 4),
        ("train.py", 6),
    ]


def test_constants_that_xla_leaves_out() -> None:
    needs((0, 7), "reader of today's HLO text")
    modules.read(HLO.encode(), "dump.txt", hlo=True)


def test_gzipped() -> None:
    needs((0, 7), "reader of today's HLO text")
    source = modules.read(zlib.compress(HLO.encode(), wbits=31), "dump.txt.gz", hlo=True)
    assert (source.format, source.gzipped) == ("hlo", True)


def test_what_xla_dumps_and_what_jax_prints_are_the_same_program(tmp_path: Path) -> None:
    """The ids, the calls' name stacks and the Python lines come through."""
    program = tmp_path / "train.py"
    program.write_text(PROGRAM)
    flags = f"--xla_dump_to={tmp_path} --xla_dump_hlo_as_text"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, program], env=environment, check=True, capture_output=True)
    (dump,) = tmp_path.glob("*jit_step*before_optimizations.txt")
    source = modules.read(dump.read_bytes(), str(dump), hlo=True)
    text = modules.text_of(source).decode()
    assert '_scheduling_group_id = "3"' in text
    if VERSION >= (0, 7):  # before, calls had no metadata
        assert "jit(layer)" in text
    lines = set(re.findall(r'train\.py":(\d+):', text))
    assert {"8", "10"} <= lines
    if VERSION >= (0, 7):
        assert "13" in lines


def test_a_call_of_a_jitted_function_is_told_from_jaxs_own_calls() -> None:
    """XLA names the functions in its own way."""
    inner = jax.jit(exchange)
    lowered = mapped(lambda x: inner(exchange(x) + x)).lower(jnp.ones((16, 16)))
    computation: Any = lowered.compiler_ir("hlo")
    text = computation.get_hlo_module().to_string()
    assert "to_apply=%exchange." in text
    if VERSION < (0, 7):
        pytest.skip("calls had no metadata in HLO before jax 0.7")
    assert [each.code for each in lint(text)] == ["SG102"]


def test_only_lint_reads_it() -> None:
    needs((0, 7), "reader of today's HLO text")
    with pytest.raises(FileError, match=r"this is HLO text; wanted: .*`schedscope lint` reads it"):
        modules.read(HLO.encode(), "dump.txt")
    with pytest.raises(FileError, match="this is HLO text; wanted: "):
        modules.write(modules.read(HLO.encode(), "dump.txt", hlo=True))


def test_what_the_scheduler_left_is_refused() -> None:
    lowered = jax.jit(jnp.sin).lower(1.0)
    scheduled = lowered.compile().as_text() or ""
    assert "is_scheduled=true" in scheduled.splitlines()[0]
    with pytest.raises(FileError, match=r"scheduled; wanted: .*before_optimizations\.txt"):
        lint(scheduled)


def test_text_that_this_xla_cannot_read() -> None:
    strange = HLO.replace(" add(", " frobnicate(")
    line = next(n for n, text in enumerate(strange.splitlines(), 1) if "frobnicate" in text)
    with pytest.raises(FileError) as caught:
        lint(strange)
    assert re.match(
        rf"dump\.txt:{line}:\d+: jaxlib \S+ cannot read this HLO text, ", str(caught.value)
    )
    assert "\n" not in str(caught.value)


def test_truncated_anywhere_it_is_one_error_and_no_output(
    capfd: pytest.CaptureFixture[str],
) -> None:
    for size in range(len("HloModule "), len(HLO) - 2, 23):
        with pytest.raises(FileError, match=r"^dump\.txt"):
            lint(HLO[:size])
    assert capfd.readouterr() == ("", "")
