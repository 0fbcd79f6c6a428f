"""A note for XLA's error about scheduling groups, from the module that XLA was given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from schedscope._mlir import bytecode_of, ir
from schedscope.errors import InputError
from schedscope.explanation.explain import WITH_PATHS, explain
from schedscope.explanation.record import record_of
from schedscope.explanation.refusal import Refusal, refusal_in
from schedscope.scoping.scope import scope_module


def note_for(
    message: str,
    module: ir.Module,
    originals: Mapping[int, int],
    names: Mapping[str, str],
    target: str,
) -> str | None:
    """What XLA's `message` means in the user's program; None where it is not about groups.

    Args:
      message: the text of XLA's error.
      module: what XLA was given, scoped; it is not changed.
      originals: for ids of `module` the id in the user's module; those that are missing are equal.
      names: for clones in `module` the user's function.
      target: "gpu" or "tpu".

    Nothing is raised: it is called while another error is on its way.
    """
    try:
        refusal = refusal_in(message)
        if refusal is None:
            return None
        lines = _lines(refusal, module, originals, names, target)
    except Exception:  # noqa: BLE001  a bug here must not hide XLA's error
        return None
    return "\n  ".join([f"schedscope: {lines[0]}", *lines[1:]])


def _lines(
    refusal: Refusal,
    module: ir.Module,
    originals: Mapping[int, int],
    names: Mapping[str, str],
    target: str,
) -> list[str]:
    try:
        copy = ir.Module.parse(bytecode_of(module), module.context)
        targets = (target,) if refusal.kind in WITH_PATHS else ()  # to look takes a while
        record = record_of(copy, scope_module(copy), targets)
        return explain(refusal, _in_the_users_words(record, originals, names), target)
    except InputError as error:
        return [f"the module was not scoped: {error}"]
    except Exception:  # noqa: BLE001  what is known without the module is better than nothing
        return list(_short(refusal, originals))


def _short(refusal: Refusal, originals: Mapping[int, int]) -> Iterator[str]:
    for id in refusal.groups:
        yield f"group {id} of XLA's message is group {originals.get(id, id)} of the program"
    if not refusal.groups:
        yield "XLA's message is about scheduling groups"


def _in_the_users_words(
    record: dict[str, Any], originals: Mapping[int, int], names: Mapping[str, str]
) -> dict[str, Any]:
    for group in record["groups"]:
        group["original"] = originals.get(group["original"], group["original"])
        for place in group["places"]:
            place["function"] = names.get(place["function"], place["function"])
    return record
