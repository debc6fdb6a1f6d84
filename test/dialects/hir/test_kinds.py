"""Every kind of the tables is computed: by compiled programs and by the interpreter."""

from __future__ import annotations

import pytest

from hirc.compiler.interpreter.binary_kinds import BINARY_FUNCTIONS
from hirc.compiler.interpreter.reduce_kinds import REDUCE_FUNCTIONS
from hirc.compiler.interpreter.unary_kinds import UNARY_FUNCTIONS
from hirc.dialects.hir.element_rules import kind_takes
from hirc.dialects.hir.element_types import ELEMENT_TYPES
from hirc.dialects.hir.kinds import BINARY, REDUCE, TERNARY, UNARY
from hirc.pipelines.hir.compute.kinds import (
    _EMITTERS as EMITTERS,  # pyright: ignore[reportPrivateUsage]
)
from hirc.pipelines.hir.compute.reductions import collective_kind

_ELEMENTWISE = {**UNARY, **BINARY, **TERNARY}
# They are computed alike of all element types, without a table.
_OF_ANY = {"cast", "where"}
# Made of comparisons and of another kind.
_BY_OTHERS = {"any", "all"}


def test_no_name_is_of_two_elementwise_kinds() -> None:
    assert len(_ELEMENTWISE) == len(UNARY) + len(BINARY) + len(TERNARY)


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_every_elementwise_kind_is_lowered(name: str) -> None:
    element = ELEMENT_TYPES[name]
    taken = {kind for kind, described in _ELEMENTWISE.items() if kind_takes(described, element)}
    assert taken - _OF_ANY - set(EMITTERS.get(element.kind, {})) == set()


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_every_reduction_is_lowered(name: str) -> None:
    element = ELEMENT_TYPES[name]
    for kind, described in REDUCE.items():
        if kind_takes(described, element) and kind not in _BY_OTHERS:
            assert collective_kind(kind, element)


def test_the_interpreter_computes_every_kind() -> None:
    assert set(UNARY_FUNCTIONS) == set(UNARY) - _OF_ANY
    assert set(BINARY_FUNCTIONS) == set(BINARY)
    assert set(REDUCE_FUNCTIONS) == set(REDUCE)
