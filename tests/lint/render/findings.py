"""Findings made by hand, of every kind that the formats tell apart, and what is rendered of them.

`python -m tests.lint.render.findings` in the repository's root writes the files in `expected`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from schedscope.lint.diagnostic import Diagnostic, Related, Severity, Spot
from schedscope.lint.render import Linted, github, json, sarif, text
from schedscope.lint.render.paint import Paint
from schedscope.lint.rule import Rule
from schedscope.locations import Frame

from tests.lint.samples import SOURCE

EXPECTED = Path(__file__).parent / "expected"

EXCHANGE = "stablehlo.collective_permute"
LAYERS = "/opt/site-packages/layers.py"
"""Cannot be read, and lies outside the working directory."""

RULES = (
    Rule(
        "SG101", "gap-in-group", Severity.ERROR, lambda rule, module: iter(()), "A gap.\n\nWhy.\n"
    ),
    Rule("SG201", "dropped-group", Severity.WARNING, lambda rule, module: iter(()), "Dropped.\n"),
    Rule("SG301", "odd-key", Severity.NOTE, lambda rule, module: iter(()), "Odd\nkey.\n"),
)


def linted(here: str) -> list[Linted]:
    """`here` is the working directory, which holds train.py."""
    train = os.path.join(here, "train.py")
    call, block = Frame(train, 9, 0, "<module>"), Frame(LAYERS, 20, 4, "block")
    step = Frame(train, 6, 5, "step")
    gap = Diagnostic(
        "SG101",
        "gap-in-group",
        Severity.ERROR,
        "group 5 has a gap",
        Spot(EXCHANGE, (step, Frame(train, 8, 4, "loop")), None, (call, block), 5, (6, 16)),
        (5,),
        (
            Related("from here", Spot(EXCHANGE, (Frame(train, 3, 12, "step"),), None, (call,), 5)),
            Related("through this", Spot("func.call", (block,), None, (call,))),
            Related("and this", Spot("stablehlo.add", (Frame("gone.py", 1, 0, None),), None)),
        ),
        "give them ids of their own",
        "schedscope fix",
        ("gpu", "tpu"),
    )
    dropped = Diagnostic(
        "SG201",
        "dropped-group",
        Severity.WARNING,
        "group 7 will be dropped: 100% of it, alas",
        Spot("stablehlo.add", (), (12, 10), (), 7),
        (7,),
        targets=("tpu",),
    )
    odd = Diagnostic(
        "SG301", "odd-key", Severity.NOTE, 'the key is "ä, b"', Spot("func.func", (), None)
    )
    return [
        Linted(os.path.join(here, "dumps", "step 1.mlir"), [gap, dropped]),
        Linted("<stdin>", [odd]),
        Linted("bad.mlir", problem="bad.mlir:1:1: error: no\nmodule"),
        Linted("clean.mlir"),
    ]


FORMATS: Mapping[str, Callable[[list[Linted]], str]] = {
    "text.txt": text.render,
    "coloured.txt": lambda modules: text.render(modules, Paint(coloured=True)),
    "findings.json": json.render,
    "findings.sarif": lambda modules: sarif.render(modules, RULES, "1.2.3"),
    "github.txt": github.render,
}


def write_expected() -> None:
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        Path("train.py").write_text(SOURCE)
        for name, render in FORMATS.items():
            (EXPECTED / name).write_text(render(linted(os.getcwd())))


if __name__ == "__main__":
    write_expected()
