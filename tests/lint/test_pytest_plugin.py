"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import schedscope

from tests.jax_versions import VERSION

ROOT = Path(schedscope.__path__[0]).parent

HEAD = """\
import jax, jax.numpy as jnp, pytest
from jax.experimental.xla_metadata import set_xla_metadata
try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map

def exchange(x):
    with set_xla_metadata(_scheduling_group_id=5):
        return jax.lax.ppermute(x, "i", [(0, 0)])

def good(x):
    return exchange(x) + x

def bad(x):
    return exchange(exchange(x) + x)

def mapped(f):
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")
    return jax.jit(shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec))

X = jnp.ones((8, 8))
"""


class Project:
    """Tests that stand in one file and run in a process of their own."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def test(self, body: str, configuration: str = "") -> tuple[dict[str, str], str]:
        """The outcomes by the tests' names, and pytest's whole report."""
        (self._directory / "test_it.py").write_text(HEAD + body)
        (self._directory / "pyproject.toml").write_text(
            f"[tool.pytest.ini_options]\n{configuration}"
        )
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            # Whether it is installed here as an entry point or not, it is loaded once.
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "test_it.py"],
            cwd=self._directory,
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": path,
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "PYTEST_PLUGINS": "schedscope_pytest",
                "PYTEST_ADDOPTS": "",
                "JAX_PLATFORMS": "cpu",
            },
        )
        marks = ("PASSED", "FAILED", "ERROR")
        words = [line.split() for line in done.stdout.splitlines() if line.startswith(marks)]
        return {name.rpartition("::")[2]: mark for mark, name, *_ in words}, done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_what_xla_would_refuse_fails_the_test_that_lowers_it(project: Project) -> None:
    outcomes, report = project.test("""
def test_good(schedscope_lint):
    mapped(good).lower(X)

def test_bad(schedscope_lint):
    mapped(bad).lower(X)

def test_compiled(schedscope_lint):
    mapped(bad)(X)

def test_unwatched():
    mapped(bad).lower(X)

def test_raises_itself(schedscope_lint):
    mapped(bad).lower(X)
    raise RuntimeError("of its own")
""")
    assert outcomes == {
        "test_good": "PASSED",
        "test_bad": "FAILED",
        "test_compiled": "FAILED",
        "test_unwatched": "PASSED",
        "test_raises_itself": "FAILED",
    }
    failures = report.partition("short test summary")[0]  # in CI, the summary is not cut
    assert failures.count("error[SG101]: group 5 has a gap") == 2
    if VERSION >= (0, 9):  # before, jax named the line that called the mapped function
        assert "| return exchange(exchange(x) + x)" in report
    assert "of its own" in report


def test_the_fixture_shows_and_allows(project: Project) -> None:
    outcomes, report = project.test("""
def test_findings(schedscope_lint):
    schedscope_lint.target = "tpu"
    mapped(good).lower(X)
    assert [each.code for each in schedscope_lint.findings] == ["SG201"]

def test_allow(schedscope_lint):
    schedscope_lint.allow("gap-in-group")
    mapped(bad).lower(X)

def test_allow_nothing(schedscope_lint):
    with pytest.raises(Exception, match="'SG9' names no rule"):
        schedscope_lint.allow("SG9")
""")
    assert set(outcomes.values()) == {"PASSED"}, report


def test_it_is_configured_by_pyproject(project: Project) -> None:
    body = """
def test_bad(schedscope_lint):
    mapped(bad).lower(X)
"""
    for configuration, outcome in (("ignore = ['SG1']", "PASSED"), ("target = 'all'", "FAILED")):
        outcomes, report = project.test(body, f"[tool.schedscope]\n{configuration}\n")
        assert outcomes == {"test_bad": outcome}, report
    outcomes, report = project.test(body, "[tool.schedscope]\ntarget = 'cpu'\n")
    assert outcomes == {"test_bad": "ERROR"}
    assert "target = 'cpu', wanted" in report


def test_it_sees_what_the_hook_has_made_of_a_module(project: Project) -> None:
    outcomes, report = project.test("""
import schedscope.hook

OWN = jax._src.interpreters.mlir.lower_jaxpr_to_module
inner = jax.jit(exchange)

def twice(x):
    return inner(inner(x) + x)

def test_without(schedscope_lint):
    mapped(twice).lower(X)

def test_with(schedscope_lint):
    with schedscope.hook.installed():
        mapped(twice).lower(X)

def test_installed_before():
    schedscope.hook.install()

def test_hook_stays(schedscope_lint):
    mapped(twice).lower(X)

def test_hook_stays_after():
    text = mapped(twice).lower(X).as_text()
    assert '_scheduling_group_id = "6"' in text
    schedscope.hook.uninstall()

def test_nothing_stays():
    assert jax._src.interpreters.mlir.lower_jaxpr_to_module is OWN
    assert '_scheduling_group_id = "6"' not in mapped(twice).lower(X).as_text()
""")
    assert outcomes.pop("test_without") == "FAILED"
    assert "error[SG102]" in report
    assert set(outcomes.values()) == {"PASSED"}, report


def test_a_module_that_cannot_be_understood_fails_the_test(project: Project) -> None:
    outcomes, report = project.test("""
from schedscope.lint import checker
from schedscope.errors import InputError
import schedscope_pytest.watcher

def test_it(schedscope_lint, monkeypatch):
    def lint_module(*_):
        raise InputError("recursive call")
    monkeypatch.setattr(schedscope_pytest.watcher, "lint_module", lint_module)
    mapped(good).lower(X)
""")
    assert outcomes == {"test_it": "FAILED"}
    assert "jit_good: error: recursive call" in report


def test_pytest_starts_without_jax_and_jaxlib(project: Project) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import schedscope_pytest; "
        "print([name for name in ('jax', 'jaxlib', 'schedscope') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    with_it = code.replace("print", "import schedscope_pytest.watcher; print")
    done = subprocess.run(
        [sys.executable, "-c", with_it], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['jax', 'jaxlib', 'schedscope']\n"
