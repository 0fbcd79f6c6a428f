"""`[tool.schedscope]` in pyproject.toml."""

from __future__ import annotations

from pathlib import Path

import pytest
from schedscope.errors import UsageError
from schedscope.lint.configuration import Configuration, configuration


def write(directory: Path, text: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "pyproject.toml"
    path.write_text(text)
    return path


def test_the_nearest_file_with_the_table_counts(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    write(tmp_path, '[tool.schedscope]\ntarget = "v5e"\n')
    write(below, "[tool.ruff]\n")
    assert configuration(below) == Configuration("v5e")
    write(below.parent, '[tool.schedscope]\nselect = ["SG1"]\nignore = ["SG105", "SG106"]\n')
    assert configuration(below) == Configuration("gpu", ("SG1",), ("SG105", "SG106"))
    write(below, "[tool.schedscope]\n")
    assert configuration(below) == Configuration()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("tool.schedscope.selct = []", " has no 'selct'; there are target, select, ignore"),
        ("tool.schedscope.target = 'cpu'", " target = 'cpu', wanted one of gpu, tpu, all, "),
        ("tool.schedscope.target = ['gpu']", " target = ['gpu'], wanted one of gpu, tpu, all, "),
        ("tool.schedscope.select = 'SG1'", " select = 'SG1', wanted a list of rules"),
        ("tool.schedscope.ignore = [1]", " ignore = [1], wanted a list of rules"),
        ("tool.schedscope.ignore = ['gap']", ": 'gap' names no rule; there are SG101 gap-in-group"),
        ("tool.schedscope = 1", " is 1, wanted a table"),
    ],
)
def test_what_is_none(tmp_path: Path, text: str, what: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        configuration(tmp_path)
    assert str(caught.value).startswith(f"{path}: [tool.schedscope]{what}")


@pytest.mark.parametrize("text", ["[tool.schedscope", "a = 'caf\udce9'"])
def test_a_file_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UsageError) as caught:
        configuration(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_tool_that_is_no_table(tmp_path: Path) -> None:
    write(tmp_path, "tool = 1")
    assert configuration(tmp_path) == Configuration()
