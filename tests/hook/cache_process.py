"""One process that uses jax's persistent compilation cache.

    python cache_process.py FOLDER hooked|unhooked

Runs each program, and writes as JSON whether its executable came from the cache, and its result.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any

import jax

from tests.hook.programs import X, bits, dependent, independent, plain

HIT = "/jax/compilation_cache/cache_hits"
MISS = "/jax/compilation_cache/cache_misses"


def main(folder: str, mode: str) -> None:
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    events: Counter[str] = Counter()
    jax.monitoring.register_event_listener(lambda event, **_: events.update([event]))
    if mode == "hooked":
        from schedscope import hook

        hook.install()
    found: dict[str, Any] = {}
    for make in dependent, independent, plain:
        events.clear()
        [[_, _, result]] = bits(make()(X))
        found[make.__name__] = {
            "hits": events[HIT],
            "misses": events[MISS],
            "result": result.hex(),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
