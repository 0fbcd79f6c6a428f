"""Processes that lint for `schedscope lint`; see lint_worker.py."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from tempfile import TemporaryFile
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedscope.lint.render import Linted

    from schedscope_cli.lint_worker import Request

_CODE = "import sys; sys.path[:] = {path!r}; from schedscope_cli.lint_worker import serve; serve()"


class Worker:
    """One process. It is started at once, and can be asked before it is ready."""

    def __init__(self) -> None:
        self._stderr = TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CODE.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
        )

    def ask(self, request: Request) -> Linted | None:
        """None: it has crashed, see `epitaph`."""
        from schedscope_cli.lint_worker import send

        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            send(self._process.stdin, request)
            answer: Linted = pickle.load(self._process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            return None
        return answer

    def epitaph(self) -> str:
        """How it ended, and the first it said of it."""
        status = self._process.wait()
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        self._stderr.seek(0)
        said = self._stderr.read(100_000).decode(errors="replace").split("\n")
        words = next((line.strip() for line in said if "ERROR" in line or "Error" in line), "")
        return f"{how}: {words[:300]}" if words else how

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._stderr.close()


class Workers:
    """Up to `size` processes."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._free: SimpleQueue[Worker | None] = SimpleQueue()
        self._all: list[Worker] = []
        self._ended = False
        self._lock = Lock()
        for _ in range(size):
            self._free.put(self._started())

    def lint(self, requests: Sequence[Request], done: Callable[[], None]) -> list[Linted]:
        """The results in the order of `requests`; `done` is called after each."""
        with ThreadPoolExecutor(self._size) as threads:
            futures = [threads.submit(self._lint, request) for request in requests]
            try:
                for future in as_completed(futures):
                    future.result()
                    done()
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                self.end()
                raise
        return [future.result() for future in futures]

    def end(self) -> None:
        with self._lock:
            self._ended = True
            while self._all:
                self._all.pop().end()

    def _started(self) -> Worker | None:
        with self._lock:
            if self._ended:
                return None
            worker = Worker()
            self._all.append(worker)
            return worker

    def _lint(self, request: Request) -> Linted:
        from schedscope.lint.render import Linted

        from schedscope_cli.files import display_name

        worker = self._free.get()
        answer = worker and worker.ask(request)
        if worker is None or answer is not None:
            self._free.put(worker)
            return answer or Linted(request.path, problem=f"{request.path}: not linted")
        name = display_name(request.path)
        problem = f"{name}: error: the process that read it crashed ({worker.epitaph()})"
        self._free.put(self._started())
        return Linted(name, problem=problem)
