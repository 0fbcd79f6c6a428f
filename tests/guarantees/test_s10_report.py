"""S10: what the report says, and that what it says is so."""

from __future__ import annotations

import json

import pytest

from tests.guarantees.programs import scope

LAYER = """
    layer(x):
      y = permute(x) #0  at ppermute
      return y
"""
NESTED = (
    """
    main(x, w):
      a = block(x, w)  at jit(run)/jit(block)
      b = block(a, w)  at jit(run)/jit(block)
      return b
    block(x, w):
      y = gather(x) #4  at all_gather
      m = multiply(y, w)  at mul
      z = layer(m)  at jit(layer)
      return z
"""
    + LAYER
)


def test_every_group_with_its_origin_and_call_paths() -> None:
    groups = scope(NESTED).report.groups
    spelled = [
        (
            group.id,
            group.original,
            group.shared,
            [
                (place.function, [(s.caller, s.callee, s.ordinal, s.location) for s in place.path])
                for place in group.places
            ],
        )
        for group in groups
    ]
    first = ("main", "block", 0, "train.py:3")
    second = ("main", "block", 1, "train.py:4")
    inner = ("block", "layer", 0, "train.py:9")
    assert sorted(spelled, key=lambda each: each[0]) == [
        (0, 0, False, [("layer", [first, inner])]),
        (4, 4, False, [("block", [first])]),
        (5, 4, False, [("block", [second])]),
        (6, 0, False, [("layer", [second, inner])]),
    ]


def test_clones_by_the_name_of_the_function() -> None:
    assert dict(scope(NESTED).report.clones) == {"block": ("block_0",), "layer": ("layer_0",)}


def test_it_serializes_to_json() -> None:
    report = scope(NESTED).report
    data = json.loads(json.dumps(report.to_json()))
    assert data["changed"] is True
    assert data["clones"] == {"block": ["block_0"], "layer": ["layer_0"]}
    assert [group["id"] for group in data["groups"]] == [group.id for group in report.groups]
    [step] = data["groups"][0]["places"][0]["path"][:1]
    assert step["location"] == "train.py:3"


def test_the_summary_in_words() -> None:
    assert scope(NESTED).report.summary() == [
        "block: 2 instances, group 4 -> 5 at train.py:4",
        "layer: 2 instances, group 0 -> 6 at train.py:4 > train.py:9",
    ]


def test_calls_that_share_a_group_for_they_are_independent() -> None:
    report = scope(
        """
    main(x):
      a = layer(x)  at jit(run)/jit(layer)
      b = layer(x)  at jit(run)/jit(layer)
      c = add(a, b)  at add
      return c
    """
        + LAYER
    ).report
    assert not report.changed
    [group] = report.groups
    assert group.shared
    assert [place.path[0].ordinal for place in group.places] == [0, 1]
    assert report.summary() == []


def test_a_group_that_has_inherited_parts_is_not_shared() -> None:
    [group] = scope(
        """
    main(x):
      a = permute(x) #0  at ppermute
      b = layer(a) #0  at jit(run)/jit(layer)
      return b
    """
        + LAYER
    ).report.groups
    assert not group.shared
    assert [place.function for place in group.places] == ["main", "layer"]


def test_a_group_in_a_loop_has_its_path_from_the_function_around_it() -> None:
    groups = scope(
        """
    main(x):
      a = outer(x)  at jit(run)/jit(outer)
      return a
    outer(x):
      a = while 2 v(x):  at while
        b = layer(v)  at while/body/jit(layer)
        c = layer(b)  at while/body/jit(layer)
        yield c
      return a
    """
        + LAYER
    ).report.groups
    assert [[step.location for step in group.places[0].path] for group in groups] == [
        ["train.py:7"],
        ["train.py:8"],
    ]


WARNED = """
    main(x):
      p, q = layer(x)
      s, t = layer(p)
      u = add(s, t)
      v = add(u, q)
      return v
    layer(x):
      y = permute(x) #0
      z = dot(x, x) #0
      return {}
"""


def test_a_warning_where_xla_may_have_run_as_one_what_is_several_now() -> None:
    """No permute waits for a permute, and XLA:GPU drops the dots."""
    report = scope(WARNED.format("z, y")).report
    [warning] = report.warnings
    assert "group 0 is now groups 0, 1" in warning
    assert f"warning: {warning}" in report.summary()


def test_a_warning_where_members_follow_each_other_at_once() -> None:
    """Each permute waits for the one before, with nothing between."""
    [warning] = scope(WARNED.format("y, z")).report.warnings
    assert "group 0 is now groups 0, 1" in warning


def test_none_where_their_collectives_wait_for_each_other_through_a_gap() -> None:
    text = WARNED.format("y, z").replace(
        "s, t = layer(p)", "m = multiply(p, x)\n      s, t = layer(m)"
    )
    assert scope(text).report.warnings == []


def test_nor_where_nothing_changes() -> None:
    assert scope(LAYER.replace("layer", "main")).report.warnings == []


def test_keys_are_counted() -> None:
    report = scope("""
    main(x):
      a = permute(x) #0
      b = permute(x) #1
      c = add(a, b)
      return c
    """).report
    assert report.keys == 2
    assert "2 combiner keys keep collectives of different groups apart" in report.summary()


def test_a_large_id_is_the_original_in_the_report() -> None:
    report = scope(f"""
    main(x):
      a = permute(x) #{2**40}
      return a
    """).report
    [group] = report.groups
    assert (group.id, group.original) == (0, 2**40)


@pytest.mark.parametrize("every_call_site", [False, True])
def test_a_report_of_nothing(every_call_site: bool) -> None:
    report = scope("main(x):\n  return x", every_call_site=every_call_site).report
    assert not report.changed
    assert (report.groups, report.clones, report.keys) == ((), (), 0)
    assert report.summary() == []


def test_a_tag_on_a_symbol_is_noted_and_left() -> None:
    found = scope("""
    main(x):
      a = layer(x)
      b = layer(a)
      return b
    layer(x) {mhlo.frontend_attributes = {_scheduling_group_id = "5"}}:
      y = permute(x) #0
      return y
    """)
    assert any("symbol" in note for note in found.report.notes)
    assert found.text.count('"5"') == 2
    assert sorted(found.ids.values()) == [0, 6]
