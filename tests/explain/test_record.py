"""What the report's file holds beside what the pass did."""

from __future__ import annotations

import json
from typing import Any

import pytest
from schedscope import ScopeOptions, modules, scope_module
from schedscope.errors import InputError
from schedscope.explanation.record import FAMILIES, record_of
from schedscope.explanation.recorded import read, read_all
from schedscope.xla.targets import TARGETS

from tests.cases import registry
from tests.explain.recording import BESIDE, REUSED, TWICE, WAITING, record, source_of

STEPS = ["location", "group", "backward", "op"]


def steps(path: dict[str, Any]) -> list[list[Any]]:
    return [[step[name] for name in STEPS] for step in path["path"]]


def test_it_holds_the_passs_own_report() -> None:
    source, data = source_of(TWICE)
    again = scope_module(modules.read(modules.write(source), "again").module).to_json()
    assert data["changed"] is True
    for name in again.keys() - {"changed", "clones", "groups"}:
        assert data[name] == again[name]
    assert [group["id"] for group in data["groups"]] == [0, 1]


def test_it_is_plain_data() -> None:
    for notation in (TWICE, REUSED, WAITING):
        data = record(notation)
        assert json.loads(json.dumps(data)) == data


def test_the_lines_of_a_groups_ops_in_a_function_that_was_cloned() -> None:
    places = [place for group in record(TWICE)["groups"] for place in group["places"]]
    assert [place["function"] for place in places] == ["layer", "layer"]
    assert [place["lines"] for place in places] == [["train.py:7", "train.py:8"]] * 2


def test_lines_name_the_callers_within_the_traced_function() -> None:
    source = modules.read(registry.lower_case("grad_inline", "gpu").bytecode, "case")
    data = record_of(source.module, scope_module(source.module))
    (first, *_) = data["groups"][0]["places"][0]["lines"]
    files = [line.rsplit("/", 1)[1].partition(":")[0] for line in first.split(" > ")]
    assert files[-3:] == ["unjitted.py", "unjitted.py", "kit.py"]
    assert len(files) <= 4


def test_no_gap_is_left_and_none_is_recorded() -> None:
    assert record(TWICE)["gaps"] == []
    assert record(TWICE)["waits"] == []


def test_a_gap_op_by_op() -> None:
    (gap,) = record(REUSED)["gaps"]
    assert (gap["ids"], gap["targets"]) == ([5], ["gpu"])
    assert steps(gap) == [
        ["train.py:6", 5, False, "stablehlo.collective_permute"],
        ["train.py:7", None, False, "stablehlo.sine"],
        ["train.py:9", None, False, "stablehlo.add"],
        ["train.py:10", 5, False, "stablehlo.collective_permute"],
    ]
    call = {"callee": "block", "is_call": True, "location": "train.py:3"}
    assert all(step["path"] == [call] for step in gap["path"])


def test_a_gap_that_both_targets_have_is_told_once() -> None:
    gathered = REUSED.replace("permute(x)", "gather(x)").replace("permute(w)", "gather(w)")
    (gap,) = record(gathered)["gaps"]
    assert gap["targets"] == ["gpu", "tpu"]


def test_a_copy_is_in_no_group() -> None:
    reduced = """
        main(x):
          y = reduce(x) #3
          z = reduce(y) #3
          w = add(y, z)
          return w
    """
    (gap,) = record(reduced)["gaps"]
    assert gap["targets"] == ["gpu"]
    assert [(step["op"], step["group"]) for step in gap["path"]] == [
        ("stablehlo.all_reduce", 3),
        ("copy", None),
        ("stablehlo.all_reduce", 3),
    ]


def test_a_call_path_has_the_users_names_after_cloning() -> None:
    twice = REUSED.replace(
        "return a\n", "b = block(a)                 at jit(run)/jit(block)\n      return b\n", 1
    )
    gaps = record(twice)["gaps"]
    assert [gap["ids"] for gap in gaps] == [[5], [6]]
    assert {call["callee"] for gap in gaps for step in gap["path"] for call in step["path"]} == {
        "block"
    }


def test_the_backward_ops_of_grad_are_marked() -> None:
    backward = REUSED.replace(
        "jit(block)/ppermute\n      return", "transpose(jvp())/p\n      return"
    )
    (gap,) = record(backward)["gaps"]
    assert [step["backward"] for step in gap["path"]] == [False, False, False, True]


def test_groups_that_wait_for_each_other() -> None:
    (wait,) = record(WAITING)["waits"]
    assert (sorted(wait["ids"]), wait["targets"]) == ([1, 2], ["tpu"])
    assert {step["group"] for step in wait["path"]} >= {1, 2}


def test_a_group_that_waits_for_itself_once_its_matmul_is_fused() -> None:
    (wait,) = record(BESIDE)["waits"]
    assert (wait["ids"], wait["targets"]) == ([3], ["tpu"])
    assert [step["op"] for step in wait["path"]] == ["stablehlo.add"]


def test_a_compiler_that_waiting_groups_do_not_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAMILIES, "tpu", TARGETS["v6e"])
    assert record(WAITING)["waits"] == []


def test_ids_that_are_kept_whole() -> None:
    assert record(TWICE)["kept_whole"] == []
    data = record(TWICE, ScopeOptions(keep_global=frozenset({0})))
    assert (data["kept_whole"], data["groups"]) == ([0], [])


def test_only_the_targets_asked_for() -> None:
    source, _ = source_of(WAITING)
    report = scope_module(source.module)
    assert record_of(source.module, report, ("gpu",))["waits"] == []
    assert len(record_of(source.module, report, ("tpu",))["waits"]) == 1


def test_a_record_is_read_as_it_was_written() -> None:
    found = read(record(REUSED))
    assert [group.id for group in found.groups] == [5]
    assert found.groups[0].places[0].lines == ("train.py:6", "train.py:10")
    assert found.gaps is not None
    assert [step.line for step in found.gaps[0].steps][1] == "train.py:7"


def test_an_older_record_has_no_lines_and_does_not_say_of_gaps() -> None:
    source = modules.read(modules.write(source_of(TWICE)[0]), "older")
    older = scope_module(source.module).to_json()
    del older["module"]
    found = read(older)
    assert found.gaps is None
    assert found.groups[0].places[0].lines == ()


@pytest.mark.parametrize(
    "document",
    [
        3,
        {},
        {"groups": []},
        {"changed": True, "groups": 3},
        {"changed": True, "groups": [3]},
        {"changed": True, "groups": [{"id": "x", "original": 0, "shared": False, "places": []}]},
        {"changed": True, "groups": [], "gaps": [{}]},
        {"changed": True, "groups": [], "gaps": [{"ids": [1], "targets": ["gpu"], "path": []}]},
        [3],
        [{"file": "a.mlir", "report": None}],
    ],
)
def test_other_documents_are_refused(document: object) -> None:
    with pytest.raises(InputError, match="not a report of `schedscope fix --report`"):
        read_all(document)


def test_files_that_could_not_be_done_are_left_out() -> None:
    good = {"file": "b.mlir", "report": record(TWICE)}
    assert [name for name, _ in read_all([{"file": "a.mlir", "error": "no"}, good])] == ["b.mlir"]
    assert read_all({"file": "a.mlir", "error": "no"}) == []
