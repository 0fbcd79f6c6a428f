"""A short notation for small StableHLO modules.

    main(x):
      a = layer(x)
      b = layer(a)  at jit(main)/jit(layer)
      return b
    layer(x):
      y = permute(x) #0
      z = sine(x) #0:1 key=mine
      w = add(y, z)
      return w

What is no op below is a call; `composite[layer](x)` and `custom[layer](x)` name a function too.
Regions are indented: `while 2 v(x):` with its trip count, `case i:` and `if p:` with branches `0:`,
`1:`, `manual v(x):`, `named v(x):`, each ending in `yield`. `#G` is the annotation, `at STACK` the
name stack, on the Python line train.py:N where N is the notation's own line, `{...}` frontend
attributes as they are. A function is private unless it is `main` or marked `public`. Without any
`at` the module has no Python locations, and every call counts as jit's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent

from tests.guarantees.grammar import BRANCHING, HEADER, REGIONS, STATEMENT, Line, names
from tests.guarantees.ops import (
    COLLECTIVES,
    DOT,
    ELEMENTWISE,
    MANUAL,
    ROWS,
    SHAPE,
    SUM,
    WIDE,
    type_of,
)


def module(notation: str, name: str = "jit_run") -> str:
    """The module as MLIR text."""
    text = dedent(notation)
    lines = [
        (len(line) - len(line.lstrip()), line.strip(), number)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip()
    ]
    writer = _Writer(lines, located=" at " in text)
    body = "\n".join(writer.functions())
    return (
        f"module @{name} attributes {{mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32}}"
        f' {{\n  sdy.mesh @mesh = <["i"=4]>\n{body}\n}}\n'
    )


class _Writer:
    def __init__(self, lines: list[Line], located: bool) -> None:
        self._lines = lines
        self._located = located
        self._types: dict[str, str] = {}
        self._unique = 0
        self._results = dict(self._signatures())

    def _signatures(self) -> Iterator[tuple[str, int]]:
        name = ""
        for indent, text, _ in self._lines:
            if indent == 0:
                found = HEADER.fullmatch(text)
                assert found is not None, text
                name = found["name"]
                yield name, 1
            elif text.startswith("return"):
                yield name, len(names(text.removeprefix("return")))

    def functions(self) -> Iterator[str]:
        starts = [n for n, line in enumerate(self._lines) if line[0] == 0]
        for start, end in zip(starts, [*starts[1:], len(self._lines)], strict=True):
            yield self._function(self._lines[start][1], self._lines[start + 1 : end])

    def _function(self, header: str, body: list[Line]) -> str:
        found = HEADER.fullmatch(header)
        assert found is not None, header
        self._types = dict.fromkeys(names(found["arguments"]), SHAPE)
        symbol, results = found["name"], ", ".join([SHAPE] * self._results[found["name"]])
        public = found["public"] or symbol == "main"
        types = ", ".join([SHAPE] * len(self._types))
        start = f'  func.func {"public" if public else "private"} @"{symbol}"'
        if not body:
            return f"{start}({types}) -> ({results})"
        arguments = ", ".join(f"%{name}: {SHAPE}" for name in self._types)
        attributes = f" attributes {found['rest'].strip()}" if found["rest"].strip() else ""
        inner = "\n".join(self._block(body))
        return f"{start}({arguments}) -> ({results}){attributes} {{\n{inner}\n  }}"

    def _block(self, lines: list[Line], terminator: str = "func.return") -> Iterator[str]:
        number = 0
        while number < len(lines):
            indent, text, line = lines[number]
            end = number + 1
            while end < len(lines) and lines[end][0] > indent:
                end += 1
            if text.startswith(("return ", "yield ")):
                yield self._generic(terminator, names(text.partition(" ")[2]), [], "", "", "")
            elif end > number + 1:
                yield self._with_regions(text, lines[number + 1 : end], line)
            else:
                yield self._statement(text, line)
            number = end

    def _generic(
        self,
        op: str,
        operands: list[str],
        results: list[str],
        properties: str,
        region: str,
        rest: str,
    ) -> str:
        """`rest` is attributes and location."""
        types = ", ".join(self._types[name] for name in operands)
        made = ", ".join(self._types[name] for name in results)
        into = ", ".join(f"%{name}" for name in results) + " = " if results else ""
        held = f" <{{{properties}}}>" if properties else ""
        attributes, location = rest.split("@@") if "@@" in rest else (rest, "")
        return (
            f'    {into}"{op}"({", ".join(f"%{name}" for name in operands)}){held}{region}'
            f"{attributes} : ({types}) -> ({made}){location}"
        )

    def _statement(self, text: str, line: int) -> str:
        found = STATEMENT.fullmatch(text)
        assert found is not None, text
        op, operands, rest = found["op"], names(found["operands"]), found["rest"]
        results = names(found["results"] or "")
        self._types.update(dict.fromkeys(results, type_of(op)))
        tail = self._tail(rest, line)
        if op in ELEMENTWISE:
            return self._generic(f"stablehlo.{op}", operands, results, "", "", tail)
        if op == "compare":
            less = "comparison_direction = #stablehlo<comparison_direction LT>"
            return self._generic("stablehlo.compare", operands, results, less, "", tail)
        if op == "count":
            return self._generic("stablehlo.add", operands, results, "", "", tail)
        if op == "dot":
            return self._generic("stablehlo.dot_general", operands, results, DOT, "", tail)
        if op in COLLECTIVES:
            name, properties = COLLECTIVES[op]
            self._unique += 1
            inner = self._tail(found["middle"], line).split("@@")[0]
            region = SUM.format(self._unique, inner) if op == "reduce" else ""
            if op == "gather":
                wide = f"{results[0]}wide"
                self._types[wide] = WIDE
                made = self._generic(f"stablehlo.{name}", operands, [wide], properties, "", tail)
                return f"{made}\n" + self._generic("stablehlo.slice", [wide], results, ROWS, "", "")
            return self._generic(f"stablehlo.{name}", operands, results, properties, region, tail)
        if op in ("constant", "true", "false", "ones"):
            value = {"constant": found["name"], "ones": "1.0"}.get(op, op)
            dense = f"value = dense<{value}> : {type_of(op)}"
            return self._generic("stablehlo.constant", [], results, dense, "", tail)
        if op in ("custom", "index", "test"):
            called = f", called_computations = [@{found['name']}]" if found["name"] else ""
            named = f'call_target_name = "{op}"{called}'
            return self._generic("stablehlo.custom_call", operands, results, named, "", tail)
        if op == "composite":
            named = f'name = "a.part", decomposition = @"{found["name"]}"'
            return self._generic("stablehlo.composite", operands, results, named, "", tail)
        callee = f'callee = @"{found["name"] or op}"'
        return self._generic("func.call", operands, results, callee, "", tail)

    def _tail(self, rest: str, line: int) -> str:
        """The frontend attributes and the location."""
        stack = re.search(r" at (.*)$", rest)
        rest = rest if stack is None else rest[: stack.start()]
        entries = re.findall(r"\{(.*)\}", rest)
        entries += [f'_scheduling_group_id = "{text}"' for text in re.findall(r"#(\S+)", rest)]
        entries += [f'combiner_key = "{key}"' for key in re.findall(r"key=(\S+)", rest)]
        attributes = f" {{mhlo.frontend_attributes = {{{', '.join(entries)}}}}}" if entries else ""
        if stack is not None and stack[1] != "nowhere":
            name = stack[1].replace('"', '\\"')
            place = f'"step"("train.py":{line}:5 to :9)'
            location = f' loc("{name}"({place}))' if name != "frame" else f" loc({place})"
        else:
            location = "" if stack is None and not self._located else " loc(unknown)"
        return f"{attributes}@@{location}"

    def _with_regions(self, text: str, body: list[Line], line: int) -> str:
        found = REGIONS.fullmatch(text)
        assert found is not None, text
        kind, results = found["op"], names(found["results"])
        arguments, operands = names(found["arguments"]), names(found["operands"] or "")
        tail = self._tail(found["rest"], line)
        self._types.update(dict.fromkeys((*results, *arguments), SHAPE))
        if kind == "while":
            return self._loop(found["subject"], operands, arguments, results, body, tail)
        if kind in BRANCHING:
            starts = [n for n, each in enumerate(body) if each[0] == body[0][0]]
            parts = [body[a + 1 : b] for a, b in zip(starts, [*starts[1:], None], strict=True)]
            regions = ", ".join(self._region((), part, "stablehlo.return") for part in parts)
            operands = [found["subject"]]
            return self._generic(f"stablehlo.{kind}", operands, results, "", f"({regions})", tail)
        region = f"({self._region(arguments, body, 'sdy.return')})"
        properties = 'name = "part"' if kind == "named" else MANUAL
        return self._generic(f"sdy.{kind}_computation", operands, results, properties, region, tail)

    def _region(self, arguments: Sequence[str], body: list[Line], terminator: str) -> str:
        typed = ", ".join(f"%{name}: {self._types[name]}" for name in arguments)
        inner = "\n".join(self._block(body, terminator))
        return f"{{\n  ^bb0({typed}):\n{inner}\n  }}" if typed else f"{{\n{inner}\n  }}"

    def _loop(
        self,
        bound: str,
        operands: list[str],
        arguments: list[str],
        results: list[str],
        body: list[Line],
        tail: str,
    ) -> str:
        """`for counter in range(bound)`, as jax writes it; `bound` is a number or a value."""
        self._unique += 1
        own = {name: f"{name}{self._unique}" for name in ("zero", "turn", "last", "one", "next")}
        self._types.update(dict.fromkeys(own.values(), "tensor<i32>"))
        self._types |= {f"more{self._unique}": "tensor<i1>"}
        zero, turn, last, one, following = own.values()
        limit = last if bound.isdigit() else bound
        test = [
            f"{last} = constant[{bound}]()" if bound.isdigit() else "",
            f"more{self._unique} = compare({turn}, {limit})",
            f"yield more{self._unique}",
        ]
        step = [f"{one} = constant[1]()", f"{following} = count({turn}, {one})"]
        *inner, (indent, handed_on, number) = body
        handed_on = f"yield {following}, {handed_on.removeprefix('yield ')}"
        condition = [(0, text, number) for text in test if text]
        turned = [*inner, *((indent, text, number) for text in step), (indent, handed_on, number)]
        carried = [turn, *arguments]
        regions = ", ".join(
            self._region(carried, each, "stablehlo.return") for each in (condition, turned)
        )
        self._types[f"{following}out"] = "tensor<i32>"
        loop = self._generic(
            "stablehlo.while",
            [zero, *operands],
            [f"{following}out", *results],
            "",
            f"({regions})",
            tail,
        )
        return self._statement(f"{zero} = constant[0]()", 0) + "\n" + loop
