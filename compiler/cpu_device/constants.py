"""Constants that are none on the host: addresses of shared variables, and what is made of them.

A block's shared memory lies where its thread finds it, so such a constant is computed in the
prologue of the function that uses it.
"""

from __future__ import annotations

import re

from ..ir_text import matching
from .llvm_text import LOCAL, split_commas, typed_value
from .prologue import Prologue

_EXPRESSION = re.compile(
    r"\b(getelementptr|addrspacecast|ptrtoint|inttoptr|bitcast|trunc|add|sub|xor)((?: \w+)*) \("
)
_BINARY = {"add", "sub", "xor"}
# What a phi, a switch or an operand bundle lists has a space or a quote after its bracket.
_AGGREGATE = re.compile(r"<\{ |\{ |\[(?![ \"])|<(?!\{)")


def expand_constants(text: str, symbols: dict[str, str], prologue: Prologue) -> str:
    """Returns an instruction's text with the locals that `symbols` gives for global names.

    Constant expressions and aggregates around them become instructions of the prologue.
    """
    names = [name for name in symbols if name in text]
    if not names:
        return text
    for name in names:
        text = re.sub(rf"{re.escape(name)}(?![-\w.$])", symbols[name], text)
    while found := _innermost(text, set(symbols.values()) | prologue.names):
        start, end, value = found
        text = text[:start] + _computed(value, prologue) + text[end:]
    return text


def _innermost(text: str, locals_: set[str]) -> tuple[int, int, str] | None:
    """Where a constant that has a local in it and no other constant of the kind lies."""
    starts = [*_EXPRESSION.finditer(text), *_AGGREGATE.finditer(text)]
    for match in sorted(starts, key=lambda match: match.start(), reverse=True):
        opening = match.end() - 1 if match.re is _EXPRESSION else match.start()
        end = matching(text, opening)
        if locals_.intersection(LOCAL.findall(text[opening:end])):
            return match.start(), end, text[match.start() : end]
    return None


def _computed(constant: str, prologue: Prologue) -> str:
    """Returns the local of the prologue that holds what a constant says."""
    match = _EXPRESSION.match(constant)
    if match is None:
        return _built(constant, prologue)
    inner = constant[match.end() : -1]
    if match[1] in _BINARY:
        first, second = split_commas(inner)
        inner = f"{first}, {typed_value(second)[1]}"
    return prologue.value("hirc.address", f"{match[1]}{match[2]} {inner}")


def _built(aggregate: str, prologue: Prologue) -> str:
    """Returns an aggregate put together of its elements."""
    opening = "<{" if aggregate.startswith("<{") else aggregate[0]
    elements = [typed_value(part) for part in split_commas(aggregate[len(opening) : -len(opening)])]
    types = [type_text for type_text, _ in elements]
    match opening:
        case "[":
            whole = f"[{len(types)} x {types[0]}]"
        case "<":
            whole = f"<{len(types)} x {types[0]}>"
        case "{":
            whole = f"{{ {', '.join(types)} }}"
        case _:
            whole = f"<{{ {', '.join(types)} }}>"
    built = "poison"
    for number, (type_text, value) in enumerate(elements):
        body = f"{whole} {built}, {type_text} {value}, "
        body = (
            f"insertelement {body}i32 {number}" if opening == "<" else f"insertvalue {body}{number}"
        )
        built = prologue.value("hirc.aggregate", body)
    return built
