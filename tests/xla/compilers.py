"""Ask XLA:GPU and XLA:TPU what they say of a module.

    Compiler("gpu").compile(module_text_or_bytes) -> Verdict

Each compiler lives in a worker process that serves many modules and is started again after an
abort or a time-out, which count as refusals.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from schedscope.explanation import refusal

Target = Literal["gpu", "v5e", "v6e", "tpu7x"]
Kind = Literal["ok", "abort", "timeout", "other"] | refusal.Kind
Option = str | int | bool | float

_ENVIRONMENT = {
    "JAX_PLATFORMS": "cpu",
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TF_CPP_MIN_LOG_LEVEL": "2",
}
"""Level 2 keeps the text of a failed CHECK, which is all an abort leaves behind."""

_WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Verdict:
    ok: bool
    kind: Kind
    message: str
    """What XLA said, empty when it accepted."""
    hlo: str
    """The compiled, scheduled module, empty when it refused."""


def unavailable(target: Target) -> str | None:
    """Why this compiler cannot be asked here, or None if it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"XLA's plugins are for linux x86_64, this is {sys.platform} {platform.machine()}"
    if target == "gpu":
        return _missing("jax_plugins.xla_cuda13", "jax-cuda13-plugin and jax-cuda13-pjrt")
    return _missing("libtpu", "libtpu")


def _missing(module: str, package: str) -> str | None:
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    return None if found else f"{package} not installed"


def classify(message: str) -> Kind:
    found = refusal.refusal_in(message)
    return "other" if found is None else found.kind


class Compiler:
    def __init__(self, target: Target, limit_s: float = 120.0) -> None:
        self.target = target
        self.starts = 0
        self._limit_s = limit_s
        self._worker: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._verdicts: dict[bytes, Verdict] = {}

    def compile(self, module: str | bytes, **options: Option) -> Verdict:
        """The same module with the same options is compiled once."""
        source = module.encode() if isinstance(module, str) else module
        request = json.dumps({"size": len(source), "options": options}, sort_keys=True).encode()
        key = hashlib.sha256(request + source).digest()
        if key not in self._verdicts:
            self._verdicts[key] = self._ask(request + b"\n" + source)
        return self._verdicts[key]

    def close(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.communicate()
            self._worker = None
        if self._log is not None:
            self._log.close()
            self._log = None

    def _ask(self, request: bytes) -> Verdict:
        worker = self._worker or self._start()
        assert worker.stdin is not None
        try:
            worker.stdin.write(request)
            worker.stdin.flush()
            header, body = self._answer(worker)
        except TimeoutError:
            self.close()
            return Verdict(False, "timeout", f"no answer in {self._limit_s} s", "")
        except (EOFError, BrokenPipeError):
            message = f"exit {worker.wait()}: {self._last_words()}"
            self.close()
            return Verdict(False, "abort", message, "")
        text = body.decode()
        if header["ok"]:
            return Verdict(True, "ok", "", text)
        return Verdict(False, classify(text), text, "")

    def _start(self) -> subprocess.Popen[bytes]:
        self.starts += 1
        self._log = tempfile.TemporaryFile()
        worker = subprocess.Popen(
            [sys.executable, str(_WORKER), self.target],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**_inherited(), **_ENVIRONMENT},
        )
        self._worker = worker
        try:
            self._answer(worker)
        except (EOFError, TimeoutError) as error:
            words = self._last_words()
            self.close()
            raise RuntimeError(f"the {self.target} compiler did not start: {words}") from error
        return worker

    def _answer(self, worker: subprocess.Popen[bytes]) -> tuple[dict[str, object], bytes]:
        deadline = time.monotonic() + self._limit_s
        received = b""
        while b"\n" not in received:
            received += self._read(worker, deadline)
        line, body = received.split(b"\n", 1)
        header = json.loads(line)
        while len(body) < header["size"]:
            body += self._read(worker, deadline)
        return header, body

    def _read(self, worker: subprocess.Popen[bytes], deadline: float) -> bytes:
        assert worker.stdout is not None
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([worker.stdout], [], [], left)[0]:
            raise TimeoutError
        data = os.read(worker.stdout.fileno(), 1 << 20)
        if not data:
            raise EOFError
        return data

    def _last_words(self) -> str:
        assert self._log is not None
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").splitlines()
        telling = [line for line in lines if "Check failed" in line] or lines[-5:]
        return "\n".join(telling[:5])


def _inherited() -> dict[str, str]:
    """This process's environment without what was set for its own CPU devices."""
    return {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
