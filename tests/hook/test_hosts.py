"""Several hosts, on one machine: all of them must compile the same module."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from tests.hook.host_process import DEVICES, W, operand

PROGRAM = Path(__file__).with_name("host_process.py")
SECONDS = 300
"""Until all hosts must be done; the machine may be busy."""
GRACE = 10
"""Seconds that the others get to say something once one has failed."""


@pytest.mark.parametrize("hosts", [2, 4])
def test_every_host_compiles_the_same_module_and_the_result_is_right(
    hosts: int, tmp_path: Path
) -> None:
    if not _has_gloo():
        pytest.skip("this jaxlib has no gloo, so CPU hosts have no collectives")
    answers = run_hosts(hosts, tmp_path)
    first = answers[0]

    assert len({answer["seed"] for answer in answers}) == hosts  # hashes differ
    assert [len(ids) for ids in first["ids"]] == [2]
    assert len(set(first["ids"][0])) == 2
    for answer in answers:
        assert answer["ids"] == first["ids"]
        assert answer["fingerprints"] == first["fingerprints"]
    assert first["fingerprints"]

    shards = sorted((start, rows) for answer in answers for start, rows in answer["shards"])
    assert [start for start, _ in shards] == list(range(0, 2 * hosts * DEVICES, 2))
    np.testing.assert_array_equal([rows for _, rows in shards], expected(hosts * DEVICES))


def expected(devices: int) -> np.ndarray[Any, Any]:
    """The result, by device; small integers, so that it is exact."""
    x = operand(devices).reshape(devices, 2, 2)
    y = x
    for _ in range(2):
        y = np.roll(y, 1, axis=0) + y @ W
    result: np.ndarray[Any, Any] = y + x.sum(axis=0)
    return result


def _has_gloo() -> bool:
    extension = "jaxlib._jax" if jax.__version_info__ >= (0, 7) else "jaxlib.xla_extension"
    return hasattr(import_module(extension), "make_gloo_tcp_collectives")


# Running them.


def run_hosts(hosts: int, folder: Path) -> list[Any]:
    """What each host answers. When one fails all are stopped, and all outputs are told."""
    outputs = [folder / f"host{host}" for host in range(hosts)]
    with reserved_port() as port, ExitStack() as stack:
        running = [
            stack.enter_context(started(f"localhost:{port}", hosts, host, outputs[host]))
            for host in range(hosts)
        ]
        codes = waited_for(running)
    texts = [output.read_text() for output in outputs]
    if codes != [0] * hosts:
        told = (
            f"host {host}: {'still running' if code is None else f'exit code {code}'}\n{text}"
            for host, (code, text) in enumerate(zip(codes, texts, strict=True))
        )
        pytest.fail("\n".join(told))
    return [json.loads(text.splitlines()[-1]) for text in texts]


@contextmanager
def started(
    coordinator: str, hosts: int, host: int, output: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """The process of one host; afterwards it is gone."""
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    environment |= {
        "JAX_PLATFORMS": "cpu",
        "PYTHONHASHSEED": str(host + 1),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    command = [sys.executable, "-W", "ignore", str(PROGRAM), coordinator, str(hosts), str(host)]
    with output.open("wb") as file:  # a pipe that no one reads could stop it
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def waited_for(processes: list[subprocess.Popen[bytes]]) -> list[int | None]:
    """Their exit codes; None for one that runs on when time is up or another has failed."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        codes = [process.poll() for process in processes]
        if None not in codes:
            break
        if any(codes):
            deadline = min(deadline, time.monotonic() + GRACE)
        time.sleep(0.05)
    return codes


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port that no other process is given meanwhile; jax's coordinator can listen at it all the
    same, for both share it."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind(("localhost", 0))
        yield holder.getsockname()[1]
