"""The programs that the numerics are tested with: every operation and kind of an element type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from host_ir.program_texts import Program

from hirc.dialects.hir.element_types import ELEMENT_TYPES
from hirc.dialects.hir.kinds import BINARY, REDUCE, TERNARY, UNARY, Gives, Kind, Operands

_AXES = ((1,), (0,), (2,), (0, 2), (0, 1, 2))
# The place of the least is one along an axis, or one of all.
_PLACE_AXES = ((1,), (0,), (2,), ())
# What has a program for every form; the forms are the same for the other kinds.
_IN_ALL_FORMS = ("add", "lt", "sum", "max", "argmax")
_NARROW_INTEGERS = ("i8", "i16", "i32")


def takes(kind: Kind, element: str) -> bool:
    """Whether a kind computes with an element type."""
    found = ELEMENT_TYPES[element]
    if found.kind == "complex":
        return False
    return {
        Operands.ANY: True,
        Operands.NUMBER: found.is_float or found.is_integer,
        Operands.FLOAT: found.is_float,
        Operands.INTEGER: found.is_integer,
        Operands.BITS: not found.is_float,
    }[kind.operands]


def programs(element: str) -> list[Program]:
    """Every program of an element type; their names are unique."""
    return [*_elementwise(element), *_copies(element), *_reductions(element), *_products(element)]


def _result(kind: Kind, element: str) -> str:
    return {Gives.TRUTH: "i1", Gives.INDEX: "i64"}.get(kind.gives, element)


def _kinds(table: Mapping[str, Kind], element: str) -> Iterator[tuple[str, Kind]]:
    for name, kind in table.items():
        if name != "cast" and takes(kind, element):
            yield name, kind


def _elementwise(element: str) -> Iterator[Program]:
    for name, kind in _kinds(UNARY, element):
        result = _result(kind, element)
        yield Program(f"unary_{name}", "unary", _kind(name), (element,), (2,), result, 2)
    for name, kind in _kinds(BINARY, element):
        result = _result(kind, element)
        yield Program(f"binary_{name}", "binary", _kind(name), (element,) * 2, (2, 2), result, 2)
        if name in _IN_ALL_FORMS:
            ranks = (1, 3)
            yield Program(
                f"binary_{name}_ranks", "binary", _kind(name), (element,) * 2, ranks, result, 3
            )
    for name, kind in _kinds(TERNARY, element):
        first = "i1" if name == "where" else element
        result = _result(kind, element)
        kinds = (first, element, element)
        yield Program(f"ternary_{name}", "ternary", _kind(name), kinds, (2, 2, 2), result, 2)


def _copies(element: str) -> Iterator[Program]:
    yield Program("set", "set", "", (element,), (3,), element, 3)
    if ELEMENT_TYPES[element].kind == "complex":
        return
    for other, found in ELEMENT_TYPES.items():
        if found.kind != "complex":
            name = f"cast_{other}"
            yield Program(name, "unary", _kind("cast"), (element,), (2,), other, 2)


def _reductions(element: str) -> Iterator[Program]:
    for name, kind in _kinds(REDUCE, element):
        result = _result(kind, element)
        forms = _PLACE_AXES if kind.gives is Gives.INDEX else _AXES
        for number, axes in enumerate(forms if name in _IN_ALL_FORMS else forms[:1]):
            keeps = number % 2 == 1
            text = ", ".join(map(str, axes))
            attributes = (
                f"{_kind(name)}, axes = array<i64{text and ': '}{text}>" + ", keep_dims" * keeps
            )
            places = "".join(map(str, axes))
            rank = 3 if keeps else 3 - (len(axes) or 3)
            yield Program(
                f"reduce_{name}_{places}", "reduce", attributes, (element,), (3,), result, rank
            )
        if kind.gives is Gives.SUM and element in _NARROW_INTEGERS:
            attributes = f"{_kind(name)}, axes = array<i64: 1>"
            yield Program(f"reduce_{name}_wide", "reduce", attributes, (element,), (3,), "i64", 2)


def _products(element: str) -> Iterator[Program]:
    found = ELEMENT_TYPES[element]
    if not (found.is_float or found.is_integer):
        return
    pair = (element, element)
    yield Program("matmul", "matmul", "", pair, (2, 2), element, 2)
    yield Program("matmul_batched", "matmul", "", pair, (4, 3), element, 4)
    segments = "operandSegmentSizes = array<i32: 1, 1, {}, 0>"
    yield Program("linear", "linear", segments.format(0), pair, (3, 2), element, 3)
    three = (element,) * 3
    yield Program("linear_bias", "linear", segments.format(1), three, (2, 2, 1), element, 2)
    if found.computed_as == "f32" and element != "f32":
        yield Program("matmul_to_f32", "matmul", "", pair, (2, 2), "f32", 2)


def _kind(name: str) -> str:
    return f'kind = "{name}"'
