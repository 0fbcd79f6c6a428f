"""The output depends on the module alone."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import schedscope

from tests.cases import registry

NAMES = ("nested", "grad_remat", "user_key", "cond_branches")
HASH_SEEDS = ("0", "1", "2", "3", "4")

PROGRAM = """
import hashlib, io, sys
import schedscope
from schedscope._mlir import make_context
from jaxlib.mlir import ir

for name in sys.argv[1:]:
    with make_context():
        module = ir.Module.parse(open(name, "rb").read())
        schedscope.scope_module(module)
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        print(hashlib.sha256(buffer.getvalue()).hexdigest())
"""


def digests(files: list[str], hash_seed: str, environment: Mapping[str, str]) -> list[str]:
    """Of the pass's output, from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *files],
        env={**environment, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    made = []
    for name in NAMES:
        path = tmp_path / f"{name}.mlir"
        path.write_bytes(registry.lower_case(name, "tpu").bytecode)
        made.append(str(path))
    return made


@pytest.fixture
def environment() -> dict[str, str]:
    roots = [str(Path(schedscope.__file__).parents[1])]
    return {"PYTHONPATH": ":".join(roots)}


def test_every_hash_seed_and_process_gives_the_same_bytes(
    files: list[str], environment: dict[str, str]
) -> None:
    seen = {tuple(digests(files, seed, environment)) for seed in HASH_SEEDS}
    seen.add(tuple(digests(files, HASH_SEEDS[0], environment)))
    assert len(seen) == 1
    assert len(set(*seen)) == len(NAMES)


def test_the_digests_tell_modules_apart(files: list[str], environment: dict[str, str]) -> None:
    untouched = [hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in files]
    assert digests(files, "0", environment) != untouched
