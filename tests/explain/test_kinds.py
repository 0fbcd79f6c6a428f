"""What is said of the errors that are no gaps."""

from __future__ import annotations

from typing import Any

import pytest
from schedscope.explanation.explain import explain
from schedscope.explanation.refusal import Refusal, refusal_in

from tests.explain import texts
from tests.explain.recording import BESIDE, TWICE, WAITING, record


def said(refusal: Refusal, data: dict[str, Any]) -> str:
    return " ".join(explain(refusal, data))


def test_two_ids_name_both_groups() -> None:
    found = refusal_in(texts.TWO_IDS.replace("1,2", "0,1"))
    assert found is not None
    lines = explain(found, record(TWICE))
    assert lines[0].endswith("is group 0 of layer (train.py:7), called from train.py:3")
    assert lines[1].endswith("is group 0 of layer (train.py:7), called from train.py:4")
    assert "combiner keys" in " ".join(lines)


def test_stuck_names_the_groups_that_wait_for_each_other() -> None:
    found = refusal_in(texts.STUCK)
    assert found is not None
    lines = explain(found, record(WAITING))
    assert (
        lines[0]
        == "XLA's message names convolution_add_fusion and no group; the module has 2 groups:"
    )
    assert lines[1].startswith("  group 1 is group 1 of main of jit_run (train.py:3)")
    assert "groups 1-2 wait for each other, op by op (TPU):" in lines
    assert any(line.endswith("[group 1]") and "train.py:" in line for line in lines)
    assert any(line.endswith("[group 2]") and "train.py:" in line for line in lines)
    assert "give the ops that wait ids of their own" in " ".join(lines)


def test_stuck_names_the_op_that_a_matmul_may_be_fused_with() -> None:
    found = refusal_in(texts.STUCK)
    assert found is not None
    lines = explain(found, record(BESIDE))
    assert lines[1] == "  group 3 is group 3 of main of jit_run (train.py:3)"
    assert lines[2] == "group 3 waits for itself where its matmul is fused with (TPU):"
    assert lines[3].startswith("  add  train.py:")
    assert "optimization_barrier" in lines[4]


def test_groups_that_do_not_wait_are_not_named_with_those_that_do() -> None:
    found = refusal_in(texts.STUCK)
    assert found is not None
    data = record(WAITING)
    data["groups"].insert(0, {**data["groups"][0], "id": 9})
    assert "group 9" not in said(found, data)


def test_a_cycle_of_other_groups_is_not_shown() -> None:
    for ids, shown in (("3|8", False), ("1|2", True)):
        first, second = ids.split("|")
        text = texts.CYCLE.replace("id: 3", f"id: {first}").replace("id: 8", f"id: {second}")
        found = refusal_in(text)
        assert found is not None
        assert ("op by op" in said(found, record(WAITING))) is shown


def test_stuck_without_waiting_groups_names_what_there_is() -> None:
    found = refusal_in(texts.STUCK)
    assert found is not None
    lines = explain(found, record(TWICE))
    assert lines[1].startswith("  group 0 is group 0 of layer (train.py:7)")
    assert "optimization_barrier" in " ".join(lines)
    assert "the module has no groups" in said(found, {"changed": False, "groups": []})


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (texts.NO_INTEGER, 'could not read the annotation "abc" of collective-permute-start'),
        ("stoi", "does not say which"),
        (texts.FUSION, "an op is in one group only"),
        (texts.CYCLE, "wait for ops of the other"),
        (texts.OVERLAP, "lets overlap"),
        (texts.ORDER, "on all of them or on none"),
        (texts.PROPAGATION, "With propagation on"),
    ],
)
def test_every_kind_says_what_it_means(text: str, word: str) -> None:
    found = refusal_in(text)
    assert found is not None
    assert word in said(found, record(TWICE))
