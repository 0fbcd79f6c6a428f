"""`schedscope run` has the hook installed once the program has imported jax, and not before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.programs import ROOTS, Ended, Runner

LOWERS = """\
import os, re, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=3"
IMPORT
import jax.numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata

@jax.jit
def layer(x):
    with set_xla_metadata(_scheduling_group_id=0):
        return x @ x

def dependent(x):
    return layer(layer(x))

def independent(x):
    return layer(x) + layer(x.T)

def show(program):
    text = jax.jit(program).lower(jnp.ones((8, 8))).as_text()
    ids = re.findall(r'_scheduling_group_id = "(.*?)"', text)
    print(program.__name__, sorted(set(ids)), flush=True)
"""

PROGRAM = LOWERS.replace("IMPORT", "import jax") + "show(dependent)\nshow(independent)\n"

CHILDREN = (
    LOWERS.replace("IMPORT", "import jax")
    + """
if __name__ == "__main__":
    import multiprocessing, subprocess
    process = multiprocessing.get_context("spawn").Process(target=show, args=[dependent])
    process.start()
    process.join()
    subprocess.run([sys.executable, "program.py"], check=True, cwd=sys.argv[1])
"""
)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path)
    made.write({"program.py": PROGRAM})
    return made


def shown(dependent: str, independent: str) -> str:
    return f"dependent [{dependent}]\nindependent [{independent}]\n"


@pytest.mark.parametrize(
    ("options", "out"),
    [
        ([], shown("'0', '1'", "'0'")),
        (["--every-call-site"], shown("'0', '1'", "'0', '1'")),
        (["--keep-global", "3,0"], shown("'0'", "'0'")),
        (["--keep-global=3", "--every-call-site"], shown("'0', '4'", "'0', '4'")),
    ],
    ids=str,
)
def test_what_the_program_lowers_is_scoped(runner: Runner, options: list[str], out: str) -> None:
    ended = runner.schedscope(*options, "program.py")
    assert (ended.status, ended.out) == (0, out), ended.err


def test_without_the_command_nothing_is(runner: Runner) -> None:
    assert runner.python("program.py").out == shown("'0'", "'0'")


def test_processes_that_the_program_starts_are_hooked(runner: Runner) -> None:
    runner.write({"children.py": CHILDREN, "elsewhere/program.py": PROGRAM})
    ended = runner.schedscope("--every-call-site", "children.py", "elsewhere")
    wanted = "dependent ['0', '1']\n" + shown("'0', '1'", "'0', '1'")
    assert (ended.status, ended.out) == (0, wanted), ended.err


IMPORTS = {
    "by a part of it": "import jax.numpy",
    "after a look": "import importlib.util\nassert importlib.util.find_spec('jax')\nimport jax",
    "by hand": """\
import importlib.util
spec = importlib.util.find_spec("jax")
jax = sys.modules["jax"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(jax)
""",
    "lazily": """\
import importlib.util
spec = importlib.util.find_spec("jax")
jax = sys.modules["jax"] = importlib.util.module_from_spec(spec)
importlib.util.LazyLoader(spec.loader).exec_module(jax)
""",
    "the hook first": "import schedscope.hook\nimport jax",
    "by way of the hook": "from schedscope.hook import fix, jax",
    "after a failure": """\
path = sys.path[:]
sys.path[:] = []
try:
    import jax
except ModuleNotFoundError:
    sys.path[:] = path
import jax
""",
    "after the environment has been emptied": """\
changed = {name: os.environ[name] for name in ("XLA_FLAGS", "JAX_PLATFORMS")}
os.environ.clear()
os.environ.update(changed)
import jax
""",
    "with another library path": """\
sys.path[:] = [p for p in sys.path if not os.path.exists(os.path.join(p, "schedscope"))]
sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in repr(f)]
before = sys.path[:]
import jax
assert sys.path == before
""",
}


@pytest.mark.parametrize("way", IMPORTS)
def test_every_way_to_import_jax(runner: Runner, way: str) -> None:
    check = """
assert len(jax.devices()) == 3
assert type(jax.__spec__.loader).__module__ == "_frozen_importlib_external", jax.__spec__
assert jax.__loader__ is jax.__spec__.loader
assert type(sys.modules["schedscope.hook"].__loader__) is type(jax.__loader__)
assert not any(type(finder).__module__ == "sitecustomize" for finder in sys.meta_path)
show(dependent)
"""
    runner.write({"s.py": LOWERS.replace("IMPORT", IMPORTS[way]) + check})
    if way in ("the hook first", "by way of the hook"):
        runner.environment["PYTHONPATH"] = ":".join(ROOTS)
    ended = runner.schedscope("s.py")
    assert (ended.status, ended.out) == (0, "dependent ['0', '1']\n"), ended.err


@pytest.mark.parametrize(
    "importing", ["import jax", "__import__('importlib').import_module('jax')"]
)
@pytest.mark.parametrize("fault", ["import missing", "1 / 0", "raise SystemExit(5)", "x = = 1"])
def test_jax_that_cannot_be_imported(runner: Runner, importing: str, fault: str) -> None:
    runner.write({"jax/__init__.py": fault + "\n", "s.py": f"def f():\n    {importing}\nf()\n"})
    assert runner.same("s.py").status == (5 if "Exit" in fault else 1)


def test_jax_that_is_missing(runner: Runner) -> None:
    runner.write({"s.py": "import sys\nsys.path[:] = []\nimport jax\n"})
    assert "No module named 'jax'" in runner.same("s.py").err


def test_directory_that_happens_to_be_called_jax(runner: Runner) -> None:
    only_here = "import sys\nsys.path[:] = sys.path[:1]\n"
    show = "import jax\nprint(type(jax.__loader__))\n"
    runner.write({"jax/data.txt": "", "s.py": only_here + show})
    assert "NamespaceLoader" in runner.same("s.py").out


SPOILED = """\
import sys

class Spoiler:
    def find_spec(self, name, path, target=None):
        compiler = sys.modules.get("jax._src.compiler")
        vars(compiler or sys).pop("compile_or_get_cached", None)

sys.meta_path.insert(0, Spoiler())
"""
"""jax without a function that the hook wraps."""


def refused(ended: Ended) -> str:
    assert (ended.status, ended.out) == (2, "")
    lines = ended.err.splitlines()
    assert len(lines) == 1, ended.err
    assert lines[0].startswith("schedscope: error: ")
    return lines[0]


@pytest.mark.parametrize(
    "importing",
    [
        "import jax",
        "import threading; threading.Thread(target=lambda: __import__('jax')).start()",
    ],
)
def test_jax_that_the_hook_does_not_know(runner: Runner, importing: str) -> None:
    runner.write({"s.py": f"{SPOILED}{importing}\nimport time; time.sleep(20)\nprint('went on')\n"})
    message = refused(runner.schedscope("s.py"))
    assert "jax._src.compiler.compile_or_get_cached is missing" in message


SWALLOWS = """\
import io
stderr, sys.stderr = sys.stderr, io.StringIO()
try:
    import jax
except BaseException:
    sys.stderr = stderr
import jax
print("went on")
"""


def test_no_program_goes_on_with_jax_alone(runner: Runner) -> None:
    runner.write({"s.py": SPOILED + SWALLOWS})
    refused(runner.schedscope("s.py"))


def test_hook_that_cannot_be_imported(runner: Runner) -> None:
    runner.write({"jax/__init__.py": "", "s.py": "import jax\nprint('went on')\n"})
    assert "the hook cannot be imported: " in refused(runner.schedscope("s.py"))
