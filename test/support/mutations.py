"""Near misses of programs: each operation's attributes, operands, types and regions changed, one at
a time, in MLIR's generic form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir

_ATTRIBUTES = (
    "unit",
    "0 : i64",
    "-1 : i64",
    "9223372036854775807 : i64",
    "3 : index",
    "1.5 : f32",
    '""',
    '"other"',
    "[]",
    "[unit]",
    "array<i64>",
    "array<i64: -1>",
    "array<i64: 0, 0, 0>",
    "array<i64: 9, 9, 9>",
    "array<i32: 1, 1, 1, 1>",
    "@nothing",
    "@nothing::@there",
    "i32",
    "{}",
    "dense<1> : tensor<2xi64>",
    "dense<7> : tensor<1xi64>",
    "affine_map<(d0) -> (d0)>",
)
_TYPES = (
    "i1",
    "i4",
    "i128",
    "index",
    "f64",
    "f80",
    "complex<f32>",
    "vector<4xf32>",
    "memref<f32>",
    "memref<0xf32>",
    "memref<?xf32>",
    "memref<4xi4>",
    "memref<?x?x?xf32>",
    "memref<9223372036854775807x4xf32>",
    "memref<4611686018427387904x2xf32>",
    "memref<4x4xf32, strided<[?, ?], offset: ?>>",
    "memref<4x4xf32, strided<[0, -1]>>",
    "memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>",
    "memref<4xf32, 3>",
    "memref<*xf32>",
    "tensor<?xf32>",
    "tensor<*xf32>",
    "tensor<4xindex>",
    "tensor<9223372036854775807x4xf32>",
    "!hir.stream_t",
    "!hir.results_t",
    "none",
)
_NAME = re.compile(r'(?<![\w$])"([a-z_]+\.[\w.]+)"\(([^()]*)\)')
_ENTRY = re.compile(r"(?:^|(?<=[{<,]))\s*([A-Za-z_][\w.]*)(?= = |[,}>]|$)")
_TYPE = re.compile(
    r"(?:memref|tensor|vector|complex)<|!?\b(?:hir\.\w+|gpu\.async\.token)|"
    r"\b(?:index|[if]\d+|bf16|tf32)\b"
)
_CONSTANT = re.compile(r"value = (-?\d+) : (index|i64)")
_NUMBERS = ("-1", "5", "9223372036854775807", "-9223372036854775808")


@dataclass(frozen=True)
class Mutant:
    """A changed program, and what was changed."""

    text: str
    change: str


def generic_form(text: str) -> str:
    """The program in generic form, without aliases. ValueError: it is not valid."""
    session = Session()
    try:
        module = ir.Module.parse(text, session.context)
    except ir.MLIRError as error:
        raise ValueError("not valid") from error
    return str(module.operation.get_asm(print_generic_op_form=True, use_local_scope=True))


def mutants(text: str) -> Iterator[Mutant]:
    """Every change of the program `text`, which is in generic form."""
    yield from _operations(text)
    yield from _operands(text)
    yield from _attributes(text)
    yield from _types(text)
    yield from _constants(text)


def _operations(text: str) -> Iterator[Mutant]:
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = _NAME.search(line)
        if match is None or match[1] == "builtin.module" or line.rstrip().endswith("({"):
            continue
        yield Mutant(_without(lines, number), f"line {number}: no {match[1]}")
        yield Mutant("\n".join([*lines[:number], line, *lines[number:]]), f"twice {match[1]}")
        yield Mutant(f"{line}\n", f"alone {match[1]}")


def _operands(text: str) -> Iterator[Mutant]:
    for match in _NAME.finditer(text):
        operands = [each.strip() for each in match[2].split(",") if each.strip()]
        end = _signature(text, match.end())
        if not operands or end is None:
            continue
        types = _split(text[end[0] : end[1]])
        if len(types) != len(operands):
            continue
        for number in range(len(operands)):
            for changed, of in (
                (_dropped(operands, number), _dropped(types, number)),
                (_doubled(operands, number), _doubled(types, number)),
                (_swapped(operands, number), _swapped(types, number)),
            ):
                yield Mutant(
                    text[: match.start(2)]
                    + ", ".join(changed)
                    + text[match.end(2) : end[0]]
                    + ", ".join(of)
                    + text[end[1] :],
                    f"{match[1]}: operands {changed}",
                )


def _attributes(text: str) -> Iterator[Mutant]:
    for start, end in _dictionaries(text):
        entries = _split(text[start:end])
        for number, entry in enumerate(entries):
            key = entry.partition(" = ")[0].strip()
            if not re.fullmatch(r'[\w."]+', key):
                continue
            others = [None, *(f"{key} = {value}" for value in _ATTRIBUTES)]
            for other in others:
                changed = [*entries[:number], *([other] if other else []), *entries[number + 1 :]]
                yield Mutant(text[:start] + ", ".join(changed) + text[end:], f"{entry} -> {other}")


def _types(text: str) -> Iterator[Mutant]:
    for start, end in _type_places(text):
        for other in _TYPES:
            if other != text[start:end]:
                yield Mutant(text[:start] + other + text[end:], f"{text[start:end]} -> {other}")
    # One type everywhere: what agrees with itself is refused later, or not.
    for kind in sorted({text[start:end] for start, end in _type_places(text)}):
        for other in _TYPES:
            yield Mutant(
                re.sub(rf"(?<![\w<]){re.escape(kind)}(?![\w>])", other, text),
                f"every {kind} -> {other}",
            )


def _constants(text: str) -> Iterator[Mutant]:
    for match in _CONSTANT.finditer(text):
        for other in _NUMBERS:
            yield Mutant(
                text[: match.start(1)] + other + text[match.end(1) :],
                f"constant {match[1]} -> {other}",
            )


def _type_places(text: str) -> Iterator[tuple[int, int]]:
    end = 0
    for match in _TYPE.finditer(text):
        if match.start() < end:
            continue
        end = _closing(text, match.end()) if match[0].endswith("<") else match.end()
        yield match.start(), end


def _dictionaries(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"(?<=\) )<?\{|\}\) \{", text):
        start = match.end()
        yield start, _closing(text, start) - 1


def _signature(text: str, start: int) -> tuple[int, int] | None:
    """Where the types of the operands stand, of the operation whose operands end at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] in "({<[") - (text[place] in ")}>]" and text[place - 1] != "-")
        if depth == 0 and text.startswith(" : (", place):
            return place + 4, _closing(text, place + 4) - 1
        if depth == 0 and text[place] == "\n":
            return None
    return None


def _closing(text: str, start: int) -> int:
    """The place after the bracket that closes the one before `start`."""
    depth, place = 1, start
    while depth and place < len(text):
        depth += (text[place] in "({<[") - (text[place] in ")}>]" and text[place - 1] != "-")
        place += 1
    return place


def _split(text: str) -> list[str]:
    parts: list[str] = []
    depth, start = 0, 0
    for place, char in enumerate(text):
        depth += (char in "({<[") - (char in ")}>]" and text[place - 1] != "-")
        if char == "," and not depth:
            parts.append(text[start:place].strip())
            start = place + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _without(lines: list[str], number: int) -> str:
    return "\n".join(lines[:number] + lines[number + 1 :])


def _dropped(items: list[str], number: int) -> list[str]:
    return items[:number] + items[number + 1 :]


def _doubled(items: list[str], number: int) -> list[str]:
    return items[: number + 1] + items[number:]


def _swapped(items: list[str], number: int) -> list[str]:
    other = (number + 1) % len(items)
    changed = list(items)
    changed[number], changed[other] = changed[other], changed[number]
    return changed
