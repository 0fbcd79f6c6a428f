"""What every test shares: four CPU devices, and one of each real compiler."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import pytest

from tests.xla.compilers import Compiler, Target, unavailable

jax.config.update("jax_num_cpu_devices", 4)

CompilerFor = Callable[[Target], Compiler]


@pytest.fixture(scope="session")
def compiler_for() -> Iterator[CompilerFor]:
    """Skips where the compiler cannot run; under SCHEDSCOPE_REQUIRE_XLA=1 that is a failure."""
    started: dict[Target, Compiler] = {}
    with ExitStack() as stack:

        def get(target: Target) -> Compiler:
            reason = unavailable(target)
            if reason is not None:
                if os.environ.get("SCHEDSCOPE_REQUIRE_XLA") == "1":
                    pytest.fail(reason)
                pytest.skip(reason)
            if target not in started:
                started[target] = Compiler(target)
                stack.callback(started[target].close)
            return started[target]

        yield get
