"""jax's persistent compilation cache, with the hook and without: each finds its own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hook.processes import answer

ORDER = ("hooked", "hooked", "unhooked", "unhooked", "hooked")
CHANGED = "dependent"
UNCHANGED = ("independent", "plain")
ALL = (CHANGED, *UNCHANGED)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """One process after the other, with one cache."""
    folder = str(tmp_path_factory.mktemp("cache"))
    return [answer("cache_process.py", folder, mode) for mode in ORDER]


def hits(run: Any) -> set[str]:
    for name, found in run.items():
        assert found["hits"] + found["misses"] == 1, name
    return {name for name, found in run.items() if found["hits"]}


def test_the_first_process_finds_nothing(runs: list[Any]) -> None:
    assert hits(runs[0]) == set()


def test_a_second_process_under_the_hook_finds_all(runs: list[Any]) -> None:
    assert hits(runs[1]) == set(ALL)


def test_without_the_hook_only_what_it_left_alone_is_found(runs: list[Any]) -> None:
    assert hits(runs[2]) == set(UNCHANGED)


def test_both_are_kept_side_by_side(runs: list[Any]) -> None:
    assert hits(runs[3]) == hits(runs[4]) == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_results_are_the_same_to_the_bit(runs: list[Any], name: str) -> None:
    assert len({run[name]["result"] for run in runs}) == 1
