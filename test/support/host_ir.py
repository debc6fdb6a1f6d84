"""Host IR programs as text, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir


def program(
    inputs: Sequence[str],
    body: str,
    outputs: Sequence[str],
    *,
    name: str = "main",
    described: str = "",
) -> str:
    """A program: `inputs` are types, of %0, %1 and so on; `outputs` are "%value: type".

    `described` is the text of the `inputs` attribute, without brackets.
    """
    arguments = ", ".join(f"%{number}: {text}" for number, text in enumerate(inputs))
    values = [item.split(": ", 1) for item in outputs]
    ends = "\n".join(f'  "hir.output"({value}) : ({text}) -> ()' for value, text in values)
    results = ", ".join(text for _, text in values)
    attributes = f", inputs = [{described}]" if described else ""
    return f"""\
"hir.program"() ({{
^bb0({arguments}):
{body}
{ends}
}}) {{sym_name = "{name}"{attributes},
    function_type = ({", ".join(inputs)}) -> ({results})}} : () -> ()
"""


def compute(op: str, operands: Sequence[str], result: str, attributes: str = "") -> str:
    """A program of one operation of `hir` on its inputs, whose result is the output."""
    values = ", ".join(f"%{number}" for number in range(len(operands)))
    body = f'  %y = "hir.{op}"({values}) {{{attributes}}} : ({", ".join(operands)}) -> {result}'
    return program(operands, body, [f"%y: {result}"])


def buffer(sizes: Sequence[int | str], element: str, layout: str = "") -> str:
    """A buffer's type."""
    dims = "".join(f"{size}x" for size in sizes)
    return f"memref<{dims}{element}{', ' + layout if layout else ''}>"


def parsed(text: str) -> ir.Module:
    """The module of a program's text.

    All share a context, which takes longer to make than a program to run; and the interpreter has
    no child try first whether a module can be read.
    """
    return ir.Module.parse(text, _session().context)


@cache
def _session() -> Session:
    return Session()
