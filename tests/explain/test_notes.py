"""The note that the hook adds to XLA's error, made from the module that XLA was given."""

from __future__ import annotations

from typing import Any

import pytest
from schedscope import modules, scope_module
from schedscope._mlir import bytecode_of, ir
from schedscope.explanation import notes
from schedscope.explanation.notes import note_for
from schedscope.modules import Source

from tests.cases import registry
from tests.cases.kit import Family
from tests.conftest import CompilerFor
from tests.explain import texts
from tests.explain.recording import REUSED, TWICE, source_of
from tests.guarantees.notation import module
from tests.xla.compilers import Target

GAP_0 = texts.GAP.replace("annotation: 5", "annotation: 0")
GAP_1 = texts.GAP.replace("annotation: 5", "annotation: 1")


def note(message: str, source: Source, target: str = "gpu", **more: Any) -> str:
    found = note_for(
        message, source.module, more.get("originals", {}), more.get("names", {}), target
    )
    assert found is not None
    return found


def test_it_names_the_users_group_and_function() -> None:
    source, _ = source_of(TWICE)
    lines = note(GAP_1, source, originals={1: 0}, names={"layer_0": "layer"}).splitlines()
    assert lines[0] == (
        "schedscope: group 1 of XLA's message is group 0 of layer (train.py:7), called from "
        "train.py:4"
    )
    assert all(line.startswith("  ") for line in lines[1:])


def test_without_names_it_keeps_the_modules_own() -> None:
    source, _ = source_of(TWICE)
    assert "group 1 of XLA's message is group 1 of layer_0 (train.py:7)" in note(GAP_1, source)


def test_it_has_the_path_of_the_gap() -> None:
    twice = REUSED.replace(
        "return a\n", "b = block(a)                 at jit(run)/jit(block)\n      return b\n", 1
    )
    source, _ = source_of(twice)
    message = texts.GAP.replace("annotation: 5", "annotation: 6")
    text = note(message, source, originals={6: 5}, names={"block_0": "block"})
    assert (
        "group 6 of XLA's message is group 5 of block (train.py:7), called from train.py:4" in text
    )
    for line in (7, 8, 10, 11):
        assert f"train.py:{line}" in text
    assert "block_0" not in text


def test_only_the_targets_own_gaps() -> None:
    source, _ = source_of(REUSED)
    assert "op by op (GPU)" in note(texts.GAP, source)
    assert "op by op" not in note(texts.GAP, source, "tpu")


def test_the_module_is_not_changed() -> None:
    for source in (source_of(REUSED)[0], modules.read(module(TWICE).encode(), "unscoped")):
        before = bytecode_of(source.module)
        assert note(GAP_0, source)
        assert bytecode_of(source.module) == before


def test_a_module_that_was_not_scoped() -> None:
    unscoped = modules.read(module(TWICE).encode(), "unscoped")
    assert "groups 0-1 all have the id 0" in note(GAP_0, unscoped)


def test_an_annotation_that_cannot_be_read_names_the_op() -> None:
    text = module(REUSED).replace('"5"', '"abc"', 1)
    source = modules.read(text.encode(), "bad")
    found = note(texts.NO_INTEGER, source)
    assert found.startswith("schedscope: the module was not scoped: ")
    assert "train.py:6" in found


def test_other_errors_get_no_note() -> None:
    source, _ = source_of(TWICE)
    assert note_for("RESOURCE_EXHAUSTED: Out of memory", source.module, {}, {}, "gpu") is None


def test_it_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    source, _ = source_of(TWICE)
    gone: Any = None
    text = note_for(GAP_1, gone, {1: 0}, {}, "gpu")
    assert text == "schedscope: group 1 of XLA's message is group 0 of the program"
    assert note_for(texts.STUCK, gone, {}, {}, "tpu") is not None
    assert note_for(gone, source.module, {}, {}, "gpu") is None

    def broken(_: ir.Module) -> None:
        raise RuntimeError

    monkeypatch.setattr(notes, "scope_module", broken)
    assert note(GAP_1, source, originals={1: 0}) == text


@pytest.mark.xla
@pytest.mark.parametrize(
    ("target", "case", "wanted"),
    [
        ("gpu", "reused_in_one_function", ["group 5 of XLA's message", "unjitted.py:30", "kit.py"]),
        ("v5e", "reused_in_one_function", ["group 5 of XLA's message", "unjitted.py:30", "kit.py"]),
        ("gpu", "grad_inline", ["group 0 of XLA's message", "unjitted.py:16", "unjitted.py:18"]),
        ("tpu7x", "grad_inline", ["group 0 of XLA's message", "unjitted.py:16", "unjitted.py:18"]),
        ("v5e", "crossed", ["groups 1-2 wait for each other", "unjitted.py:43", "unjitted.py:46"]),
        ("v5e", "one_group_beside_dot", ["group 0 is group 0", "unjitted.py:63"]),
    ],
)
def test_what_is_said_of_the_compilers_own_errors(
    target: Target, case: str, wanted: list[str], compiler_for: CompilerFor
) -> None:
    family: Family = "gpu" if target == "gpu" else "tpu"
    source = modules.read(registry.lower_case(case, family).bytecode, case)
    report = scope_module(source.module)
    message = compiler_for(target).compile(modules.write(source)).message
    names = {clone: name for name, clones in report.clones for clone in clones}
    text = note(message, source, family, originals=report.renumbered, names=names)
    for words in wanted:
        assert words in text
    assert f"jit_{case}" in text
