"""`schedscope rule`."""

from __future__ import annotations

from tests.cli.conftest import Command


def test_rule(schedscope: Command) -> None:
    listed = schedscope("rule")
    assert listed.status == 0
    assert "SG101  error    gap-in-group" in listed.out.decode().splitlines()
    explained = schedscope("rule", "sg101", "colliding-calls").out.decode()
    assert explained.startswith(
        "## SG101: gap-in-group\n\nerror: XLA refuses the module\n\nA path "
    )
    assert "\n## SG102: colliding-calls\n" in explained
    assert "What to write instead: " in explained
    unknown = schedscope("rule", "SG9")
    assert (unknown.status, unknown.out) == (2, b"")
    assert "'SG9' names no rule" in unknown.err
