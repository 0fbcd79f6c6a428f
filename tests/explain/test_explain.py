"""From an error and a report to lines that name the user's program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from schedscope import ScopeOptions
from schedscope.explanation.explain import explain
from schedscope.explanation.refusal import Refusal, refusal_in, refusals_in

from tests.explain import texts
from tests.explain.recording import REUSED, TWICE, record

GAP_0 = Refusal("gap", "", (0,))
GAP_1 = Refusal("gap", "", (1,))
GAP_5 = Refusal("gap", "", (5,))


def call(location: str | None, callee: str = "layer", is_call: bool = True) -> dict[str, Any]:
    step = {"caller": "main", "callee": callee, "is_call": is_call, "ordinal": 0}
    return {**step, "location": location}


def place(*path: dict[str, Any], line: str | None = "train.py:20") -> dict[str, Any]:
    lines = [] if line is None else [line]
    return {"function": "layer", "path": list(path), "lines": lines}


def document(*places: dict[str, Any], id: int = 7, **more: Any) -> dict[str, Any]:
    """A report of one group, with everything else left out."""
    group = {"id": id, "original": 0, "shared": False, "places": list(places)}
    return {"changed": True, "groups": [group], **more}


def said(refusal: Refusal, data: dict[str, Any], target: str | None = None) -> str:
    return " ".join(explain(refusal, data, target))


def test_the_group_its_function_and_the_whole_call_path() -> None:
    data = document(place(call("train.py:31", "block"), call("train.py:12")))
    assert explain(Refusal("gap", "", (7,)), data)[0] == (
        "group 7 of XLA's message is group 0 of layer (train.py:20), called from "
        "train.py:31 > train.py:12"
    )


@pytest.mark.parametrize(
    ("path", "end"),
    [
        ((), "layer (train.py:20)"),
        (
            (call("a.py:1", "sdy.manual_computation", False),),
            "inside sdy.manual_computation at a.py:1",
        ),
        ((call("a.py:1", "case", False), call("a.py:2")), "(train.py:20), called from a.py:2"),
        ((call(None), call("a.py:2")), "called from ? > a.py:2"),
        ((call(None),), "layer (train.py:20)"),
    ],
)
def test_paths_without_calls_and_without_lines(path: tuple[dict[str, Any], ...], end: str) -> None:
    assert explain(Refusal("gap", "", (7,)), document(place(*path)))[0].endswith(end)


def test_a_place_without_lines_is_named_by_its_calls() -> None:
    (first, *_) = explain(Refusal("gap", "", (7,)), document(place(call("a.py:1"), line=None)))
    assert first.endswith("is group 0 of layer, called from a.py:1")


def test_the_entry_is_named_after_the_module() -> None:
    data = document({"function": "main", "path": []}, module="jit_step")
    assert explain(Refusal("gap", "", (7,)), data)[0].endswith("is group 0 of main of jit_step")


def test_a_few_places_are_named_and_the_rest_is_counted() -> None:
    places = [place(call(f"train.py:{line}")) for line in range(31, 37)]
    lines = explain(Refusal("gap", "", (7,)), document(*places, places[0]))
    assert [line.rpartition(" ")[2] for line in lines[:3]] == [
        "train.py:31",
        "train.py:32",
        "train.py:33",
    ]
    assert lines[3] == "  and of 3 more places"
    four = explain(Refusal("gap", "", (7,)), document(*places[:4]))
    assert four[3] == "  and of 1 more place"


def test_files_below_the_working_directory_are_named_from_there() -> None:
    inside = os.path.join(os.getcwd(), "train.py:31 > ") + os.path.join(os.getcwd(), "a", "b.py:2")
    outside = "/elsewhere/train.py:8"
    data = document(place(call(outside), line=inside))
    (first, *_) = explain(Refusal("gap", "", (7,)), data)
    assert f"layer (train.py:31 > {os.path.join('a', 'b.py:2')}), called from {outside}" in first


def test_the_gap_op_by_op() -> None:
    assert explain(GAP_5, record(REUSED))[:6] == [
        "group 5 of XLA's message is group 5 of block (train.py:6), called from train.py:3",
        "the gap, op by op (GPU):",
        "  collective_permute  train.py:6  [group 5]",
        "  sine                train.py:7",
        "  add                 train.py:9",
        "  collective_permute  train.py:10  [group 5]",
    ]


def test_the_documented_example_is_what_is_said() -> None:
    page = Path(__file__).parents[2] / "docs" / "explain.md"
    assert "\n".join(["```", *explain(GAP_5, record(REUSED)), "```"]) in page.read_text()


def test_a_step_in_another_call_says_where_that_is() -> None:
    data = record(REUSED)
    data["gaps"][0]["path"][-1]["path"] = [call("train.py:4")]
    assert explain(GAP_5, data)[5].endswith("train.py:10, called from train.py:4  [group 5]")
    assert "one body's own ops" in said(GAP_5, record(REUSED))
    assert "one body's own ops" not in said(GAP_5, data)


def test_a_long_path_is_cut_in_the_middle() -> None:
    data = record(REUSED)
    first, *between, last = data["gaps"][0]["path"]
    data["gaps"][0]["path"] = [first, *(between * 20), last]
    lines = explain(GAP_5, data)
    assert "  … 26 more" in lines
    assert len([line for line in lines if "train.py:" in line]) == 17
    assert "[group 5]" in lines[lines.index("  … 26 more") + 8]


def test_gaps_of_another_target_are_left_out() -> None:
    assert "the gap, op by op (GPU):" in explain(GAP_5, record(REUSED), "gpu")
    assert "op by op" not in said(GAP_5, record(REUSED), "tpu")


def test_an_op_without_a_line() -> None:
    data = record(REUSED)
    data["gaps"][0]["path"][1]["location"] = None
    assert explain(GAP_5, data)[3] == "  sine                no Python line"


def test_one_body_that_uses_an_id_twice() -> None:
    assert "put the repeated part into a jitted function" in said(GAP_5, record(REUSED))


def test_a_gap_from_the_forward_to_the_backward_pass() -> None:
    data = record(REUSED)
    data["gaps"][0]["path"][-1]["backward"] = True
    assert "jax.grad gives the backward ops the id of the forward ones" in said(GAP_5, data)


def test_a_gap_that_is_a_copy() -> None:
    data = record(REUSED)
    data["gaps"][0]["path"][1:-1] = [{**data["gaps"][0]["path"][1], "op": "copy"}]
    assert "all_reduce works in place" in said(GAP_5, data)


def test_an_id_that_was_not_renumbered_may_be_the_unscoped_modules() -> None:
    text = said(GAP_0, record(TWICE))
    assert "In the module before scoping, groups 0-1 all have the id 0" in text
    assert "Otherwise XLA made the gap" in text
    other = said(GAP_1, record(TWICE))
    assert "before scoping" not in other
    assert "XLA made the gap" in other


def test_an_older_report_says_nothing_of_gaps() -> None:
    data = record(TWICE)
    del data["gaps"]
    text = said(GAP_1, data)
    assert "XLA made the gap" not in text
    assert "must not wait for each other through ops outside it" in text


def test_calls_that_are_one_group() -> None:
    data = document(place(call("a.py:1")), place(call("a.py:2")), gaps=[])
    assert "--every-call-site" not in said(Refusal("gap", "", (7,)), data)
    data["groups"][0]["shared"] = True
    assert "--every-call-site" in said(Refusal("gap", "", (7,)), data)


def test_an_id_of_the_module_before_scoping_that_is_gone() -> None:
    text = said(GAP_0, document(place(), id=9))
    assert text.startswith(
        "group 0 of XLA's message is group 0 of the module before scoping, which has become 9"
    )
    assert "Give XLA the module that `schedscope fix` wrote" in text


def test_an_id_that_the_report_does_not_hold() -> None:
    assert explain(Refusal("gap", "", (8,)), record(TWICE)) == [
        "group 8 of XLA's message is not in the report: is that another module's?"
    ]
    empty = {"changed": False, "groups": []}
    assert explain(Refusal("gap", "", (8,)), empty) == [
        "group 8 of XLA's message is not in the report: its module has no groups"
    ]


def test_an_id_that_is_kept_whole() -> None:
    text = said(GAP_5, record(REUSED, ScopeOptions(keep_global=frozenset({5}))))
    assert "kept whole on purpose" in text
    assert "op by op (GPU)" in text
    assert "Without the marker" in text


def test_the_path_that_xla_logged_is_told() -> None:
    gap = refusals_in(texts.LOG)[0]
    logged = "collective-permute-done.1 > loop_add_tanh_fusion > get-tuple-element.2"
    assert f"XLA's log has the path: {logged}" in said(gap, record(REUSED))


def test_lines_of_advice_fit_a_terminal() -> None:
    for text in (texts.GAP, texts.STUCK, texts.FUSION, "stoi"):
        found = refusal_in(text)
        assert found is not None
        assert all(len(line) < 100 for line in explain(found, record(REUSED)))
