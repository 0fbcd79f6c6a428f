"""The command starts fast: what it loads, and how long that takes beside jaxlib's bindings."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.samples import TWICE

BINDINGS = "import jaxlib.mlir.ir"
ABSL = "import absl.app, absl.flags.argparse_flags"
FIX = "from schedscope_cli.main import main; main(['fix', '--check', {path!r}])"
HELP = "from schedscope_cli.main import main; main(['fix', '--help'])"


@pytest.fixture
def fix(tmp_path: Path) -> str:
    path = tmp_path / "twice.mlir"
    path.write_text(TWICE)
    return FIX.format(path=str(path))


def loaded(code: str) -> set[str]:
    """The modules that a fresh process has loaded after `code`."""
    report = "; import sys; sys.stderr.write('loaded:' + ' '.join(sys.modules))"
    process = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True
    )
    return set(process.stderr.partition("loaded:")[2].split())


def test_fix_loads_no_jax(fix: str) -> None:
    modules = loaded(fix)
    assert "schedscope.scoping.scope" in modules
    assert "jax" not in modules


def test_the_probe_can_fail() -> None:
    assert "jax" in loaded("import jax")
    assert "difflib" in loaded(HELP + "; import difflib")


def test_fix_loads_nothing_heavy_beside_the_bindings(fix: str) -> None:
    """numpy comes with jaxlib's bindings, and much of the standard library with absl."""
    more = loaded(fix) - loaded(f"{BINDINGS}; {ABSL}")
    packages = {name.split(".")[0] for name in more}
    assert packages.isdisjoint({"numpy", "ml_dtypes", "json", "difflib", "gzip", "tempfile"})


def test_help_loads_no_bindings() -> None:
    assert {name.split(".")[0] for name in loaded(HELP)}.isdisjoint({"jaxlib", "numpy"})


@pytest.mark.slow  # a time depends on what else the machine does; `make bench` prints the ratio
def test_fix_takes_at_most_twice_the_bindings_time(fix: str, tmp_path: Path) -> None:
    bindings, whole = [], []
    for _ in range(7):
        bindings.append(seconds(BINDINGS, tmp_path))
        whole.append(seconds(fix, tmp_path))
    ratio = min(whole) / min(bindings)
    assert ratio <= 2, f"{min(whole):.3f} s, {ratio:.2f} times the bindings"


def seconds(code: str, directory: Path) -> float:
    """Processor time of a process, with bytecode compiled as in an installation."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(directory / "pycache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
