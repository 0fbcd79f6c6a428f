"""The programs that the compilers and the model are asked about, by name."""

from __future__ import annotations

from collections.abc import Iterator

from tests.agreement.spoiled import lower_spoiled
from tests.cases import registry
from tests.cases.expected import ROWS
from tests.cases.kit import Family
from tests.random_programs.generator import lower_random

SPOILED = 3
"""One program in so many is of those that random programs seldom are."""


def random_programs(seeds: range, family: Family) -> Iterator[tuple[str, str | bytes]]:
    for seed in seeds:
        if seed % SPOILED == 0:
            yield f"spoiled{seed}", lower_spoiled(seed, family)
        else:
            yield f"random{seed}", lower_random(seed, family).bytecode


def cases(family: Family) -> Iterator[tuple[str, bytes]]:
    for name in ROWS:
        if name != "two_streams":  # refused for want of stream ids
            yield name, registry.lower_case(name, family).bytecode
