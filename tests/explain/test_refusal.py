"""XLA's texts about scheduling groups are recognised wherever they stand, and read."""

from __future__ import annotations

import pytest
from schedscope.explanation.refusal import Refusal, refusal_in, refusals_in

from tests.cases import registry
from tests.conftest import CompilerFor
from tests.explain import texts
from tests.xla.compilers import Target

NAMED = [
    (texts.GAP, "gap", (5,), ("collective-permute-start.2",)),
    (texts.TWO_IDS, "two_ids", (1, 2), ("collective-permute-start",)),
    (texts.TWO_IDS.replace("1,2", "1:-1,2:-1"), "two_ids", (1, 2), ("collective-permute-start",)),
    (texts.NO_INTEGER, "malformed", (), ("collective-permute-start",)),
    (texts.NEGATIVE, "malformed", (), ("all_gather.1",)),
    (texts.THREE_FIELDS, "malformed", (1,), ("all_gather.1",)),
    ("stoi", "malformed", (), ()),
    (texts.STUCK, "stuck", (), ("convolution_add_fusion",)),
    (texts.FUSION, "fusion", (1, 2), ("add_fusion.3",)),
    (texts.CYCLE, "cycle", (3, 8), ()),
    (texts.OVERLAP, "overlap", (4,), ()),
    (texts.ORDER, "order", (), ()),
    (texts.PROPAGATION, "propagation", (1, 2), ("add.5",)),
]


@pytest.mark.parametrize(("text", "kind", "groups", "instructions"), NAMED)
def test_what_a_text_names(
    text: str, kind: str, groups: tuple[int, ...], instructions: tuple[str, ...]
) -> None:
    found = refusal_in(text)
    assert found is not None
    assert found[:1] + found[2:4] == (kind, groups, instructions)


@pytest.mark.parametrize("text", [text for text, *_ in NAMED])
def test_a_log_wraps_lines_and_puts_things_before_and_after(text: str) -> None:
    wrapped = text if text == "stoi" else text.replace(" ", "\n    ")
    log = f"compiling\nTraceback:\n  File 'a.py'\nValueError: {wrapped}\nmore\n"
    alone, inside = refusal_in(text), refusal_in(log)
    assert alone is not None
    assert inside is not None
    assert inside._replace(path=()) == alone


@pytest.mark.parametrize(
    "text",
    [
        "",
        "RESOURCE_EXHAUSTED: Out of memory, annotation: 3",
        "the function stoi is not here",
        "INTERNAL: FindAndExtractBestNodeAvailable failed to find a node to schedule, skipped "
        "nodes: copy.1: Skipped due to kShouldSkipNodeFunction.",
    ],
)
def test_other_texts_are_not_recognised(text: str) -> None:
    assert refusals_in(text) == []


def test_the_annotation_that_cannot_be_read() -> None:
    for text, annotation in (
        (texts.NO_INTEGER, "abc"),
        (texts.THREE_FIELDS, "1:2:3"),
        (f"XlaRuntimeError('{texts.NEGATIVE}')", "-1"),
    ):
        found = refusal_in(text)
        assert found is not None
        assert found.annotation == annotation


def test_a_gap_of_an_annotation_with_an_iteration() -> None:
    found = refusal_in(texts.GAP.replace("annotation: 5", "annotation: 5:-1"))
    assert found is not None
    assert found.groups == (5,)


def test_a_text_cut_short_is_still_recognised() -> None:
    assert refusal_in(texts.GAP[:74]) == Refusal(
        "gap", "annotation groups with gaps doesn't exist yet"
    )
    assert refusal_in(texts.STUCK[:75]) == Refusal("stuck", "failed to find a node to schedule")


def test_a_log_holds_several_each_is_told_once_and_in_order() -> None:
    assert [found.kind for found in refusals_in(texts.LOG)] == ["gap", "two_ids"]
    joined = f"{texts.TWO_IDS}\n{texts.LOG}"
    assert [found.kind for found in refusals_in(joined)] == ["two_ids", "gap"]
    found = refusal_in(texts.LOG.replace(texts.GAP, "no more"))
    assert found is not None
    assert found.kind == "two_ids"


def test_the_path_that_xla_has_logged() -> None:
    gap = refusals_in(texts.LOG)[0]
    assert gap.path == (
        "collective-permute-done.1",
        "loop_add_tanh_fusion",
        "get-tuple-element.2",
        "collective-permute-start.2",
    )


def test_a_path_of_another_error_is_not_taken() -> None:
    log = texts.LOG.replace("instr: collective-permute-start.2", "instr: fusion.8")
    assert refusals_in(log)[0].path == ()
    alone = refusal_in(texts.LOG.replace("-start.2 has", "-start.9 has"))
    assert alone is not None
    assert alone.path == ("collective-permute-done.7", "collective-permute-start.9")


@pytest.mark.xla
@pytest.mark.parametrize(
    ("target", "case", "kind", "groups"),
    [
        ("gpu", "reused_in_one_function", "gap", (5,)),
        ("v5e", "reused_in_one_function", "gap", (5,)),
        ("gpu", "grad_inline", "gap", (0,)),
        ("tpu7x", "grad_inline", "gap", (0,)),
        ("gpu", "crossed", "two_ids", (1, 2)),
        ("v5e", "crossed", "stuck", ()),
    ],
)
def test_what_the_compilers_say(
    target: Target, case: str, kind: str, groups: tuple[int, ...], compiler_for: CompilerFor
) -> None:
    module = registry.lower_case(case, "gpu" if target == "gpu" else "tpu")
    message = compiler_for(target).compile(module.bytecode).message
    found = refusal_in(message)
    assert found is not None, message
    assert (found.kind, found.groups) == (kind, groups)
    assert len(found.instructions) == 1
    assert found.instructions[0] in message


@pytest.mark.xla
@pytest.mark.parametrize("annotation", ["abc", "-1", "1:2:3", "1:x", str(2**63)])
@pytest.mark.parametrize("target", ["gpu", "v5e"])
def test_what_the_compilers_say_of_malformed_annotations(
    target: Target, annotation: str, compiler_for: CompilerFor
) -> None:
    text = registry.lower_case("once", "gpu" if target == "gpu" else "tpu").text
    bad = text.replace('_scheduling_group_id = "0"', f'_scheduling_group_id = "{annotation}"')
    found = refusal_in(compiler_for(target).compile(bad).message)
    assert found is not None
    assert (found.kind, found.annotation) == ("malformed", annotation)


@pytest.mark.xla
def test_an_id_beyond_32_bits_is_stoi_on_gpu(compiler_for: CompilerFor) -> None:
    text = registry.lower_case("once", "gpu").text
    large = text.replace('_scheduling_group_id = "0"', f'_scheduling_group_id = "{2**31}"')
    assert refusal_in(compiler_for("gpu").compile(large).message) == Refusal("malformed", "stoi")
