"""What blocks find of a row in their parts of the keys, and the kernel that combines it."""

from __future__ import annotations

from math import inf

from ....dialects.mlir import arith, gpu, ir, math, scf
from ...rewriting import constant, index_constant
from ..dependents import await_previous
from ..elements import address, load, store
from ..index_division import divided
from ..parameters import Parameters
from ..scratch import allocate_scratch
from ..size import Size, product
from ..warp_matrices import COLUMNS
from .configuration import FEW_ROWS, STATES, up
from .plan import Plan

COMBINING_THREADS = 128


def base_of(most: ir.Value) -> ir.Value:
    """Returns what scores are lowered by: the greatest, or 0 where that is -inf."""
    least, zero = (constant(most.type, value) for value in (-inf, 0.0))
    return arith.select(arith.cmpf(arith.CmpFPredicate.OEQ, most, least), zero, most)


def power(value: ir.Value) -> ir.Value:
    """Returns 2 to a power of at most 0, by the instruction."""
    return math.exp2(value, fastmath=ir.Attribute.parse("#arith.fastmath<afn>"))


def columns_of(plan: Plan) -> int:
    """Sums of a row, with those that fill its last tile."""
    return up(plan.head(plan.attention.columns), 2 * COLUMNS)


def allocate_parts(plan: Plan) -> tuple[ir.Value, ir.Value]:
    """Memory for the sums of each part of each row, and for its states, all f32."""
    rows = plan.rows if plan.rows.is_known else Size(FEW_ROWS)
    heads = _heads(plan)
    parts = rows * heads * (Size(plan.configuration.parts) if heads.is_known else plan.parts)
    f32 = ir.F32Type.get()
    return (
        allocate_scratch(parts * Size(columns_of(plan)), f32, plan.work.open),
        allocate_scratch(parts * Size(STATES), f32, plan.work.open),
    )


def results(plan: Plan) -> Size:
    """Returns how many elements the second kernel writes."""
    return _rows(plan) * Size(plan.head(plan.attention.columns))


def _rows(plan: Plan) -> Size:
    return plan.rows * _heads(plan)


def _heads(plan: Plan) -> Size:
    return product([plan.work.extents[loop] for loop in plan.grid])


def emit_combined(plan: Plan, parameters: Parameters, scratch: tuple[ir.Value, ir.Value]) -> None:
    """The body of the second kernel, whose threads each write one element."""
    await_previous(plan.work.device)
    block = arith.muli(gpu.block_id(gpu.Dimension.x), index_constant(COMBINING_THREADS))
    number = arith.addi(block, gpu.thread_id(gpu.Dimension.x))
    exists = arith.cmpi(arith.CmpIPredicate.ult, number, parameters.size(results(plan)))
    pointers = [parameters.pointer(buffer) for buffer in scratch]
    guard = scf.IfOp(exists)
    with ir.InsertionPoint(guard.then_block):
        row, column = divided(number, Size(plan.head(plan.attention.columns)), 1, parameters)
        sum_ = _combined(plan, parameters, pointers, row, column)
        places = {plan.attention.columns: column}
        if plan.along:
            row, own = divided(row, plan.rows, 1, parameters)
            places |= plan.places_of(own)
        for loop in reversed(plan.grid[1:]):
            row, places[loop] = divided(row, plan.work.extents[loop], 1, parameters)
        if plan.grid:
            places[plan.grid[0]] = row
        output = plan.output
        steps = [(place, output.strides[loop]) for loop, place in places.items()]
        at = parameters.place(output.offset, steps)
        where = address(parameters.pointer(output.buffer), output.element, at)
        store(where, output.element, [plan.result(sum_, parameters)], 1)
        scf.YieldOp([])


def _combined(
    plan: Plan,
    parameters: Parameters,
    pointers: list[ir.Value],
    row: ir.Value,
    column: ir.Value,
) -> ir.Value:
    """The sum over all keys, divided."""
    f32, parts = ir.F32Type.get(), parameters.size(plan.parts)
    first = arith.muli(row, parts)

    def read(part: ir.Value, which: int) -> ir.Value:
        place = arith.muli(arith.addi(first, part), index_constant(STATES))
        where = address(pointers[1], f32, arith.addi(place, index_constant(which)))
        return load(where, f32, 1, 1)[0]

    zero, least = constant(f32, 0.0), constant(f32, -inf)
    none, one = index_constant(0), index_constant(1)
    greatest = scf.ForOp(none, parts, one, [least])
    with ir.InsertionPoint(greatest.body):
        so_far = greatest.inner_iter_args[0]
        scf.YieldOp([arith.maximumf(so_far, read(greatest.induction_variable, 0))])
    most = greatest.results[0]
    base = base_of(most)
    factor = constant(f32, plan.scale[1])
    added = scf.ForOp(none, parts, one, [zero, zero])
    with ir.InsertionPoint(added.body):
        part = added.induction_variable
        weight = power(arith.mulf(arith.subf(read(part, 0), base), factor))
        at = arith.muli(arith.addi(first, part), index_constant(columns_of(plan)))
        (sum_,) = load(address(pointers[0], f32, arith.addi(at, column)), f32, 1, 1)
        total, sums = added.inner_iter_args
        scf.YieldOp([math.fma(weight, read(part, 1), total), math.fma(weight, sum_, sums)])
    total, sums = added.results
    return arith.mulf(sums, plan.inverse(total, parameters))
