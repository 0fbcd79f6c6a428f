"""What the pass asks of the interpreter while it runs. Several threads may run it at once, so
what is set for the whole process is set back by the last."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_depths: list[int] = []
"""The recursion limits that runs under way need."""
_limit_before = 0
_paused = 0
"""How many runs under way have the collector paused."""


@contextmanager
def room_for(depth: int) -> Iterator[None]:
    """Lets plans recurse through a chain of calls `depth` functions deep."""
    global _limit_before
    needed = 20 * depth + 1000
    with _lock:
        if not _depths:
            _limit_before = sys.getrecursionlimit()
        _depths.append(needed)
        sys.setrecursionlimit(max(_limit_before, *_depths))
    try:
        yield
    finally:
        with _lock:
            _depths.remove(needed)
            if not _depths:
                sys.setrecursionlimit(_limit_before)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Nothing the pass makes is garbage before it ends, so the cyclic collector only costs: a
    third of the time on a module with 10,000 calls (measured)."""
    global _paused
    with _lock:
        pauses = _paused > 0 or gc.isenabled()
        if pauses:
            _paused += 1
            gc.disable()
    try:
        yield
    finally:
        if pauses:
            with _lock:
                _paused -= 1
                if not _paused:
                    gc.enable()
