"""XLA's refusal says what it means in the user's program, and the traceback is the user's."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import pytest
from jax._src import compiler
from schedscope import _jax, attendant, hook

from tests.conftest import CompilerFor
from tests.hook.processes import answer
from tests.hook.programs import X, dependent, make_layer
from tests.hook.transformed import twice
from tests.jax_versions import CPU_SURVIVES_REFUSAL

GAP = (
    "Support for annotation groups with gaps doesn't exist yet, annotation: {0}, "
    "instr: dot.1 has the same annotation in its operand tree"
)
OURS = {Path(module.__file__).name for module in (_jax, attendant, hook) if module.__file__}


def refuse(text: str) -> jax.errors.JaxRuntimeError:
    """XLA for CPU refuses a custom call that it does not know, and names it: here by `text`."""
    if not CPU_SURVIVES_REFUSAL:
        pytest.skip(f"XLA:CPU of jax {jax.__version__} may abort when it refuses")
    layer = make_layer()

    @jax.jit
    def refused(x: jax.Array) -> jax.Array:
        y = twice(layer)(x)
        return jax.ffi.ffi_call(text, jax.ShapeDtypeStruct(y.shape, y.dtype))(y)

    with pytest.raises(jax.errors.JaxRuntimeError) as caught:
        refused(X)
    assert text in str(caught.value)
    return caught.value


def notes(error: Exception) -> list[str]:
    """Ours; jax adds one about its traceback."""
    return [each for each in getattr(error, "__notes__", []) if "schedscope" in each]


@pytest.mark.parametrize("id", [0, 1])
def test_the_group_is_named_as_it_was(id: int) -> None:
    hook.install()
    [note] = notes(refuse(GAP.format(id)))
    first = note.splitlines()[0]
    assert first.startswith(f"schedscope: group {id} of XLA's message is group 0 of layer (")
    assert "tests/hook/programs.py:" in first
    assert "called from tests/hook/transformed.py:" in first
    assert "layer_0" not in note


def test_the_error_is_xlas_own() -> None:
    text = GAP.format(1)
    before = refuse(text)
    hook.install()
    after = refuse(text)
    assert type(after) is type(before)
    assert str(after) == str(before)


def test_an_error_of_another_compilation_has_no_note() -> None:
    """One that goes past the hook, after one that went through it."""
    hook.install()
    dependent()(X)
    error = ValueError(GAP.format(1))
    for handle in compiler._XLA_RUNTIME_ERROR_HANDLERS:
        assert handle(error) is None
    assert notes(error) == []


def test_not_installed_there_is_no_note() -> None:
    assert notes(refuse(GAP.format(1))) == []


def test_an_error_about_something_else_has_no_note() -> None:
    hook.install()
    assert notes(refuse("something else")) == []


def test_a_group_that_is_not_there_does_not_hide_the_error() -> None:
    hook.install()
    refuse(GAP.format(77))


def test_a_bug_in_the_note_does_not_hide_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedscope.explanation.notes._lines", lambda *_: 1 / 0)
    hook.install()
    assert notes(refuse(GAP.format(1))) == []


@pytest.fixture
def filtering() -> Iterator[Callable[[str], None]]:
    before = jax.config.values["jax_traceback_filtering"]
    yield lambda mode: jax.config.update("jax_traceback_filtering", mode)
    jax.config.update("jax_traceback_filtering", before)


@pytest.mark.parametrize("mode", ["remove_frames", "tracebackhide", "quiet_remove_frames"])
def test_jax_shows_no_frame_of_ours(mode: str, filtering: Callable[[str], None]) -> None:
    filtering(mode)
    hook.install()
    shown = [
        Path(frame.f_code.co_filename).name
        for frame, _ in traceback.walk_tb(refuse(GAP.format(1)).__traceback__)
        if "__tracebackhide__" not in frame.f_locals
    ]
    assert Path(__file__).name in shown
    assert OURS.isdisjoint(shown)


def test_the_whole_traceback_has_one_frame_of_ours(filtering: Callable[[str], None]) -> None:
    filtering("off")
    hook.install()
    frames = traceback.extract_tb(refuse(GAP.format(1)).__traceback__)
    names = [Path(each.filename).name for each in frames]
    assert [each for each in names if each in OURS] == ["_jax.py"]


@pytest.mark.xla
def test_ahead_of_time_for_gpu(compiler_for: CompilerFor) -> None:
    compiler_for("gpu")  # or skips
    refused = answer("refused_process.py")
    [note] = refused["notes"]
    torn, step = refused["torn"], refused["step"]
    assert "annotation groups with gaps" in refused["text"]
    assert "of XLA's message is group 3 of torn (tests/hook/refused_process.py:" in note
    assert f"called from tests/hook/refused_process.py:{step + 2}\n" in note
    path = [line.split()[:2] for line in note.splitlines() if line.startswith("    ")]
    here = "tests/hook/refused_process.py"
    assert path == [
        ["collective_permute", f"{here}:{torn + 3}"],
        ["add", f"{here}:{torn + 4}"],
        ["collective_permute", f"{here}:{torn + 6}"],
    ]
