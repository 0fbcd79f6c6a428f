"""Where findings are: names, lines, columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from schedscope.lint.diagnostic import Diagnostic, Severity, Spot
from schedscope.lint.render.paint import wants_colour
from schedscope.lint.render.place import Place, Places, relative
from schedscope.lint.render.text import render_finding
from schedscope.locations import Frame


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spot(frame: Frame, end: tuple[int, int] | None = None) -> Spot:
    return Spot("stablehlo.add", (frame,), None, end=end)


def shown(where: Spot) -> list[str]:
    finding = Diagnostic("SG101", "gap-in-group", Severity.ERROR, "found", where)
    return render_finding(finding, "m.mlir").splitlines()


def test_names_are_relative_to_the_working_directory_where_they_lie_under_it(here: Path) -> None:
    assert relative(str(here / "a" / "train.py")) == "a/train.py"
    assert relative(f"{here}2/train.py") == f"{here}2/train.py"
    assert relative(str(here.parent / "train.py")) == str(here.parent / "train.py")
    assert relative("../train.py") == "../train.py"
    assert relative("<stdin>") == "<stdin>"


def test_columns_are_characters_from_one_on(here: Path) -> None:
    (here / "t.py").write_text("ä = 'ö'; y = f(x)\n")
    start, end = len("ä = 'ö'; y = ".encode()), len("ä = 'ö'; y = f(x)".encode())
    where = spot(Frame("t.py", 1, start, "f"), (1, end))
    assert Places().of(where, "m.mlir") == Place("t.py", 1, 14, 18)
    assert shown(where)[1:4] == ["  |", "1 | ä = 'ö'; y = f(x)", "  |              ^^^^"]


def test_without_the_source_columns_are_as_jax_counts_but_from_one_on() -> None:
    where = spot(Frame("gone.py", 3, 4, "f"), (3, 9))
    assert Places().of(where, "m.mlir") == Place("gone.py", 3, 5, 10)
    assert shown(where) == ["gone.py:3:5: error[SG101]: found", "in m.mlir: stablehlo.add"]


def test_a_stretch_of_several_lines_is_marked_at_its_beginning(here: Path) -> None:
    (here / "t.py").write_text("y = f(\n  x)\n")
    where = spot(Frame("t.py", 1, 4, "f"), (2, 4))
    assert Places().of(where, "m.mlir") == Place("t.py", 1, 5)
    assert shown(where)[2:4] == ["1 | y = f(", "  |     ^"]


def test_no_column_is_no_first_column(here: Path) -> None:
    (here / "t.py").write_text("y = f(x)\n")
    assert Places().of(spot(Frame("t.py", 1, 0, "f")), "m.mlir") == Place("t.py", 1)
    assert shown(spot(Frame("t.py", 1, 0, "f")))[1:3] == ["  |", "1 | y = f(x)"]
    assert Places().of(spot(Frame("t.py", 1, 0, "f"), (1, 8)), "m") == Place("t.py", 1, 1, 9)


def test_a_file_that_has_changed_since(here: Path) -> None:
    (here / "t.py").write_text("y\n")
    assert shown(spot(Frame("t.py", 7, 2, "f"), (7, 5)))[1] == "in m.mlir: stablehlo.add"
    assert shown(spot(Frame("t.py", 1, 30, "f"), (1, 40)))[2:4] == [
        "1 | y",
        "in m.mlir: stablehlo.add",
    ]


@pytest.mark.parametrize("content", [b"\xff\xfe\n", b"# coding: klingon\n", b"y\r\n"])
def test_a_file_that_is_no_python(here: Path, content: bytes) -> None:
    (here / "t.py").write_bytes(content)
    assert shown(spot(Frame("t.py", 1, 30, "f")))[0].startswith("t.py:1:31: ")


def test_only_python_files_are_read(here: Path) -> None:
    (here / "t.txt").write_text("secret\n")
    (here / "d.py").mkdir()
    for name in ("t.txt", "d.py"):
        assert shown(spot(Frame(name, 1, 2, "f")))[1] == "in m.mlir: stablehlo.add"


class _Terminal:
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal: object = _Terminal()
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(terminal)  # type: ignore[arg-type]
    with open("file", "w") as file:
        assert not wants_colour(file)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(terminal)  # type: ignore[arg-type]
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(terminal)  # type: ignore[arg-type]
