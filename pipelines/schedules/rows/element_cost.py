"""How much of the device's time an element of a row takes, by what is computed of it."""

from __future__ import annotations

from ....dialects.mlir import ir
from ...walking import defining_op, defining_operation, operations_where
from ..division import constant_float, is_factor_of_rounded, one_below
from ..region import Region
from ..work import COLLECTIVES, Work
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
# The same where they may be rough.
_ROUGH = {"arith.divf": 4, "math.erf": 9, "math.exp": 2}
_FREE = ("arith.constant", "linalg.index")
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


def cost_of_result(work: Work) -> float:
    """Returns the instructions that an element of the results takes once its sum is there.

    What is rounded to 16 bits is computed with fewer: see division.py and expand_erf.py.
    """
    region = Region(work)
    needed = needed_values(region, region.yielded)
    inner = [value for value in needed if region.argument_number(value) is None]
    ops = {defining_operation(value) for value in inner if not region.is_outside(value)}
    return sum(_cost_after(region, op) for op in ops)


def _cost_after(region: Region, op: ir.Operation) -> float:
    if op.name in _FREE or op.name in COLLECTIVES:
        return 0
    if op.name == "arith.extf":
        # What was rounded is kept in a register of f32.
        before = defining_op(op.operands[0])
        return 0 if before is not None and before.name == "arith.truncf" else 1
    if op.name == "arith.truncf":
        is_yielded = any(use.owner.operation.name == "linalg.yield" for use in op.results[0].uses)
        return 0.5 if is_yielded else 1
    result = op.results[0]
    if op.name == "arith.divf" and constant_float(op.operands[1]) is not None:
        return 1
    if op.name in _ROUGH and _is_rough(op):
        return _ROUGH[op.name]
    return _cost(region, result)


def _is_rough(op: ir.Operation) -> bool:
    """Returns whether an operation comes to no more than a factor of what is rounded."""
    if op.name == "arith.divf":
        return is_factor_of_rounded(op.results[0])
    users = [use.owner.operation for use in op.results[0].uses]
    if len(users) != 1 or one_below(users[0].results[0], op.name) is None:
        return False
    above = users[0].results[0]
    if op.name == "math.erf":
        return is_factor_of_rounded(above)
    readers = [use.owner.operation for use in above.uses]
    return all(each.name == "arith.divf" and _is_rough(each) for each in readers)


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
