"""Allocation domains: how the memory of a buffer is described from its logical dims.

A domain is a list of steps (see docs/host-ir.md, "Memory"); what follows from it is a plan: the
number of elements of the memory, and the sizes and strides of the buffer within it. The plan is
found once as monomials of the logical sizes and can then be computed with Python's integers or by
emitted operations.
"""

from collections.abc import Sequence
from typing import Generic

from ..mlir import ir
from ..records import dataclass
from .domain_steps import Domain
from .domain_view import memory_view
from .extents import Arithmetic, Evaluation, Integers, Number, Open
from .layout import DYNAMIC, buffer_type, product


@dataclass(frozen=True)
class Plan(Generic[Number]):
    """How many elements the memory holds, and the buffer's sizes and strides, in elements."""

    elements: Number
    sizes: tuple[Number, ...]
    strides: tuple[Number, ...]


def plan(
    domain: Domain, open_sizes: Sequence[Number], arithmetic: Arithmetic[Number]
) -> Plan[Number]:
    """Computes the plan of a domain; `open_sizes` are the logical sizes that it leaves open.

    DomainError: the memory is no strided view of the logical dims.
    """
    given = iter(open_sizes)
    sizes = [Open(next(given)) if size == DYNAMIC else size for size in domain.logical]
    view = memory_view(domain)
    exact = Evaluation(sizes, arithmetic, at_least_one=False)
    # Strides are those of a buffer with an element, also where there is none.
    counted = Evaluation(sizes, arithmetic, at_least_one=True)
    return Plan(
        exact.number(view.elements),
        tuple(map(exact.number, view.sizes)),
        tuple(map(counted.number, view.strides)),
    )


def plan_of_integers(domain: Domain, open_sizes: Sequence[int] = ()) -> Plan[int]:
    """Returns the plan for known sizes."""
    return plan(domain, open_sizes, Integers())


def static_plan(domain: Domain) -> Plan[int]:
    """Returns the plan as far as it is known: DYNAMIC where a number depends on an open size."""
    return plan(domain, [DYNAMIC] * domain.logical.count(DYNAMIC), _OpenIntegers())


def allocate_type(domain: Domain, element: ir.Type) -> ir.MemRefType:
    """Returns the type of a buffer that is allocated so."""
    found = static_plan(domain)
    if memory_view(domain).is_packed:
        return buffer_type(found.sizes, element)
    return buffer_type(found.sizes, element, found.strides)


class _OpenIntegers:
    """Integers some of which are DYNAMIC."""

    def constant(self, value: int) -> int:
        return value

    def multiply(self, a: int, b: int) -> int:
        return product([a, b])

    def ceil_divide(self, a: int, b: int) -> int:
        return DYNAMIC if DYNAMIC in (a, b) else -(-a // b)

    def maximum(self, a: int, b: int) -> int:
        return DYNAMIC if DYNAMIC in (a, b) else max(a, b)
