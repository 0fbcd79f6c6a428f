"""`schedscope fix --repair`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.samples import ONCE, groups
from tests.lint_model.modules import add, dot, function, gather

_MAIN = function(
    gather("a", "x", 5), dot("b", "x", "w", 5), add("c", "a", "b"),
    gather("d", "c", 5), dot("e", "c", "w", 5), add("r", "d", "e"),
)  # fmt: skip
REUSED = f"module {{\n{_MAIN}\n}}\n"


@pytest.fixture
def reused(tmp_path: Path) -> Path:
    path = tmp_path / "reused.mlir"
    path.write_text(REUSED)
    return path


def test_groups_are_split(schedscope: Command, reused: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    result = schedscope("fix", "--repair", "--target", "tpu", reused, "--report", report)
    assert result.status == 0
    assert set(groups(result.out)) == {"5", "6"}
    assert f"{reused}: group 5 is split into 5, 6" in result.err
    [fate] = json.loads(report.read_text())["repair"]["groups"]
    assert (fate["kind"], fate["ids"]) == ("split", [5, 6])


def test_without_it_they_stay(schedscope: Command, reused: Path) -> None:
    assert set(groups(schedscope("fix", reused).out)) == {"5"}


def test_sealing_is_by_default_for_tpu(schedscope: Command, reused: Path) -> None:
    for words, barriers in (
        (["--target", "tpu"], 4),
        (["--target", "tpu", "--no-seal"], 0),
        (["--target", "gpu"], 0),
        (["--target", "gpu", "--seal"], 4),
    ):
        result = schedscope("fix", "--repair", *words, reused)
        assert result.out.count(b"stablehlo.optimization_barrier") == barriers


def test_what_needs_nothing_is_the_input(schedscope: Command, tmp_path: Path) -> None:
    path = tmp_path / "once.mlir"
    path.write_text(ONCE)
    result = schedscope("fix", "--repair", path)
    assert result.out == ONCE.encode()
    assert schedscope("fix", "--repair", "--check", path).status == 0


@pytest.mark.parametrize("words", [["--target", "tpu"], ["--seal"], ["--no-seal"]])
def test_options_that_belong_to_it(schedscope: Command, reused: Path, words: list[str]) -> None:
    result = schedscope("fix", *words, reused)
    assert (result.status, result.out) == (2, b"")
    assert "belong to --repair" in result.err
