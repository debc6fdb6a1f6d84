"""How much of the device's time an element of a row takes, by what is computed of it."""

from __future__ import annotations

from ....dialects.mlir import ir
from ...walking import defining_operation, operations_where
from ..region import Region
from ..work import Work
from .needs import needed_values

# Instructions of functions of f32 on sm_90a, as the assembler makes them without their rare cases;
# all other operations count as one.
_INSTRUCTIONS = {
    "arith.divf": 10,
    "arith.remf": 40,
    "math.cos": 40,
    "math.erf": 18,
    "math.exp": 8,
    "math.exp2": 3,
    "math.expm1": 27,
    "math.log": 23,
    "math.log10": 23,
    "math.log1p": 26,
    "math.log2": 23,
    "math.powf": 80,
    "math.rsqrt": 3,
    "math.sin": 40,
    "math.sqrt": 12,
    "math.tanh": 14,
}
# Those of f64 take as many times as long: there are more of them, and half as many at a time.
_WIDE = 8


def cost_of_element(work: Work) -> int:
    """Returns the instructions that reductions take for each element, loads among them."""
    region, along = Region(work), frozenset(work.collective)
    needed = needed_values(region, [value for op in work.collectives for value in op.operands])
    varying = [value for value in needed if region.varies(value) & along]
    inner = [value for value in varying if region.argument_number(value) is None]
    costs = {defining_operation(value): _cost(region, value) for value in inner}
    return len(varying) - len(inner) + len(work.collectives) + sum(costs.values())


def _cost(region: Region, value: ir.Value) -> int:
    op = defining_operation(value)
    inner = operations_where(op, lambda each: each != op)
    if inner:
        return sum(_INSTRUCTIONS.get(each.name, 1) for each in inner)
    if isinstance(value.type, ir.F64Type):
        return _INSTRUCTIONS.get(op.name, 1) * _WIDE
    # What is less than a reduction's result, as a maximum, is raised to an approximate power.
    name = "math.exp2" if op.name == "math.exp" and region.needs_collective(value) else op.name
    return _INSTRUCTIONS.get(name, 1)
