"""Which untagged calls begin a body of their own, and which are jax's own out-of-line code.

jax tags a call it makes inside a metadata context. Some lowering rules make a call that the
context does not reach (cumsum, threefry2x32, compute_on, the shmap_body of older jax), so such a
call says nothing about whose group its body is in. What tells the two apart is the name stack in
the call's location, as jax 0.6.0 to 0.12.0.1 write it.
"""

from __future__ import annotations

import re

from schedscope.callgraph import Site
from schedscope.locations import buffer_position, name_of

_BOUNDARIES = frozenset({"pjit", "closed_call", "call_exported", "xla_metadata_call"})
"""Primitives whose call jax tags whenever a context is active, named by the name stack itself:
pjit in 0.6; xla_metadata_call carries the caller's metadata beside its own."""
_UNSAFE = re.compile(r"[^\w.-]")
"""What jax replaces by an underscore in a module's name."""
_WRAPPED = re.compile(r"[\w.\-]+\((.*)\)")
_JIT = re.compile(r"p?jit\((.*)\)")


def is_out_of_line(site: Site, module_name: str, has_locations: bool) -> bool:
    """True when `site` is an untagged call that jax made without passing its metadata on.

    `has_locations` says whether any call of the module carries a name stack: where none does,
    the text was stripped and every call counts as a jit call. Where some do, a call at an unknown
    location is jax's own (threefry2x32 in 0.12), for a jit call always has one.
    """
    if site.callee is None or site.op.name != "func.call":
        return False  # composites and manual computations are tagged in every version
    stack = name_of(site.op.location)
    if stack is None:
        return has_locations and buffer_position(site.op.location) is None
    return not _is_boundary(stack, site, module_name)


def _is_boundary(stack: str, site: Site, module_name: str) -> bool:
    last, depth = last_component(stack)
    last = peeled(last)
    if last in _BOUNDARIES:
        return True
    jit = _JIT.fullmatch(last)
    if jit is None:
        return False
    name = jit.group(1)
    if depth == 1 and _is_entry_stack(name, site, module_name):
        return False
    return is_called(name, site.callee or "")


def _is_entry_stack(name: str, site: Site, module_name: str) -> bool:
    """In the entry's own block the stack starts with the jit of the entry itself, so a lone
    `jit(NAME)` there is the entry, not the callee."""
    scope = site.scope
    return (
        scope is scope.function.root
        and scope.function.name == "main"
        and module_name == "jit_" + _UNSAFE.sub("_", name)
    )


def is_called(name: str, symbol: str) -> bool:
    """True when `symbol` is `name` or `name_n`, as jax's symbol table makes it unique, or
    `name.n`, as XLA does in HLO."""
    return re.fullmatch(rf"{re.escape(name)}([_.]\d+)*", symbol) is not None


def jit_name(site: Site) -> str | None:
    """NAME of the jit(NAME) that made the call, where its location says so."""
    stack = name_of(site.op.location)
    if stack is None:
        return None
    jit = _JIT.fullmatch(peeled(last_component(stack)[0]))
    return None if jit is None else jit.group(1)


def last_component(stack: str) -> tuple[str, int]:
    """The last component of a name stack and the number of components. A slash within
    parentheses parts nothing, unless what follows it is a jit: a scope's name may be anything."""
    tail = stack[stack.rfind("/") + 1 :]
    if _JIT.fullmatch(peeled(tail)):
        return tail, 1 + stack.count("/")
    depth, start, count = 0, 0, 1
    for index, character in enumerate(stack):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == "/" and depth == 0:
            start, count = index + 1, count + 1
    return stack[start:], count


def peeled(component: str) -> str:
    """`transpose(jvp(jit(f)))` without its transforms: `jit(f)`."""
    while True:
        wrapped = _WRAPPED.fullmatch(component)
        if wrapped is None or _JIT.fullmatch(component):
            return component
        component = wrapped.group(1)
