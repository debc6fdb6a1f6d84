"""Products whose rows are independent: hir.matmul, hir.linear, and linalg operations that sum."""

from __future__ import annotations

from dataclasses import replace

from ...dialects.hir.layout import is_packed
from ...dialects.mlir import arith, ir
from ..fusion.access import coordinate, loops_in
from ..fusion.generic import GENERIC
from ..hir.compute_ops import inputs_of as compute_inputs
from ..hir.compute_ops import output_of
from ..products.choose import emit_sum
from ..products.compute import as_declared
from ..products.contraction import RESULTS
from ..products.fused import clone_body
from ..products.product import Indexed
from ..walking import is_used, made_by, operations_where

STEPS = "overlap_steps"
PRODUCTS = ("hir.matmul", "hir.linear")
_REDUCE = "hir.reduce_loops"
_COMPUTES = ("arith.", "math.")


def is_product(op: ir.Operation) -> bool:
    """Returns whether an operation is a product of which some rows can be computed by themselves.

    Of Host IR, with a result; or a linalg.generic on buffers, as fusion leaves sums of products
    with what is done to them, that takes its rows of one operand.
    """
    if op.name in PRODUCTS:
        return len(op.results) == 1 and "stream_axis" not in op.attributes
    return rows_operand(op) is not None


def rows_operand(op: ir.Operation) -> int | None:
    """Returns which operand of a product has the rows; None of what is no product."""
    if op.name in PRODUCTS:
        return 0
    if op.name != GENERIC or len(op.results) or not _sums_products(op):
        return None
    indices = [[coordinate(each) for each in map_.results] for map_ in _maps(op)]
    result = indices[-1]
    if len(result) != 2 or not isinstance(result[0], int):
        return None
    having = [
        number
        for number, index in enumerate(indices[:-1])
        if any(result[0] in loops_in(each) for each in index)
    ]
    if len(having) != 1:
        return None
    index = indices[having[0]]
    if len(index) != 2 or index[0] != result[0] or result[0] in loops_in(index[1]):
        return None
    buffers = (op.operands[having[0]].type, op.operands[len(indices) - 1].type)
    is_plain = all(isinstance(each, ir.MemRefType) and is_packed(each) for each in buffers)
    return having[0] if is_plain else None


def result_of(product: ir.Operation) -> ir.Value:
    """Returns the buffer that a product gives."""
    return output_of(product) if product.name in PRODUCTS else list(product.operands)[-1]


def inputs_of(product: ir.Operation) -> list[ir.Value]:
    """Returns the buffers that a product takes."""
    if product.name in PRODUCTS:
        return compute_inputs(product)
    return [each for each in list(product.operands)[:-1] if isinstance(each.type, ir.MemRefType)]


def multiply(product: ir.Operation, rows: ir.Value, target: ir.Value) -> ir.Operation:
    """Returns the product of some rows, given as all rows are or with a dim before them, written
    at the insertion point.
    """
    if product.name in PRODUCTS:
        others = compute_inputs(product)[1:]
        named = {name: product.attributes[name] for name in product.attributes if name != STEPS}
        if product.name == "hir.linear":
            segments = [1, 1, len(others) - 1, 1]
            named["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments)
        return ir.Operation.create(product.name, operands=[rows, *others, target], attributes=named)
    place = rows_operand(product)
    assert place is not None
    part = product.clone()
    if ir.MemRefType(rows.type).rank > 2:
        _split_rows(part, place)
    part.operands[place] = rows
    part.operands[len(part.operands) - 1] = target
    return part


def multiply_onto(product: ir.Operation, rows: ir.Value, added: ir.Value, target: ir.Value) -> None:
    """Writes the product of some rows, of two dims, with the elements of another buffer added.

    That is one operation where it can be: what computes the sums adds to them.
    """
    part = multiply(product, rows, target)
    if part.name in PRODUCTS and not _sums_floats(part):
        ir.Operation.create(
            "hir.binary",
            operands=[target, added, target],
            attributes={"kind": ir.StringAttr.get("add")},
        )
        return
    with ir.InsertionPoint(part):
        if part.name in PRODUCTS:
            _emit_with_addend(part, added)
        else:
            _with_addend(part, added)
    part.erase()


def _emit_with_addend(op: ir.Operation, added: ir.Value) -> None:
    """Writes what a hir.matmul or hir.linear computes with the elements of one more added."""
    declared = as_declared(op)
    biases = [Indexed(bias, declared.result.dims[-1:]) for bias in compute_inputs(op)[2:]]
    addend = Indexed(added, declared.result.dims)
    emit_sum(replace(declared, bias=biases[0] if biases else None, addend=addend))


def _sums_floats(op: ir.Operation) -> bool:
    """Returns whether a hir.matmul or hir.linear sums products of two matrices' floats, which are
    rounded once, with a bias of the result's type.
    """
    kinds = [ir.MemRefType(each.type) for each in op.operands]
    first, second, *added, result = (str(kind.element_type) for kind in kinds)
    is_float = "tf32" not in (first, result) and result in RESULTS.get(first, ())
    are_matrices = kinds[0].rank == kinds[1].rank == 2
    return is_float and are_matrices and first == second and all(each == result for each in added)


def _with_addend(op: ir.Operation, added: ir.Value) -> None:
    """Writes what a linalg.generic on buffers computes with the elements of one more added."""
    *inputs, output = op.operands
    *maps, result = ir.ArrayAttr(op.attributes["indexing_maps"])
    attributes = {each: op.attributes[each] for each in op.attributes}
    attributes["indexing_maps"] = ir.ArrayAttr.get([*maps, result, result])
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(inputs) + 1, 1])
    whole = ir.Operation.create(
        GENERIC, operands=[*inputs, added, output], attributes=attributes, regions=1
    )
    source = op.regions[0].blocks[0]
    *types, last = [each.type for each in source.arguments]
    block = whole.regions[0].blocks.append(*types, last, last)
    with ir.InsertionPoint(block):
        arguments = list(block.arguments)
        given = [*arguments[: len(inputs)], arguments[-1]]
        total = clone_body(source, dict(zip(source.arguments, given, strict=True)))
        ir.Operation.create("linalg.yield", operands=[_sum(total, arguments[-2])])


def _sum(total: ir.Value, addend: ir.Value) -> ir.Value:
    """Returns the sum, rounded once where the total is rounded."""
    if not isinstance(total.type, ir.FloatType):
        return arith.addi(total, addend)
    rounded = made_by(total, "arith.truncf")
    if rounded is None:
        return arith.addf(total, addend)
    exact = rounded.operands[0]
    return arith.truncf(total.type, arith.addf(exact, arith.extf(exact.type, addend)))


def _split_rows(op: ir.Operation, place: int) -> None:
    """Gives a linalg.generic two loops in place of that of its rows."""
    maps = _maps(op)
    first = coordinate(maps[-1].results[0])
    assert isinstance(first, int)
    count = maps[0].n_dims
    later = [ir.AffineExpr.get_dim(loop + (loop > first)) for loop in range(count)]
    renaming = ir.AffineMap.get(count + 1, 0, later)
    split: list[ir.Attribute] = []
    for number, map_ in enumerate(maps):
        index = [each.compose(renaming) for each in map_.results]
        if number in (place, len(maps) - 1):
            rows = [ir.AffineExpr.get_dim(first), ir.AffineExpr.get_dim(first + 1)]
            index = [*rows, *index[1:]]
        split.append(ir.AffineMapAttr.get(ir.AffineMap.get(count + 1, 0, index)))
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(split)
    kinds = list(ir.ArrayAttr(op.attributes["iterator_types"]))
    op.attributes["iterator_types"] = ir.ArrayAttr.get(
        [*kinds[:first], kinds[first], *kinds[first:]]
    )
    for inner in operations_where(op, lambda each: each.name == _REDUCE):
        loops = ir.DenseI64ArrayAttr(inner.attributes["loops"])
        inner.attributes["loops"] = ir.DenseI64ArrayAttr.get(
            [loop + (loop > first) for loop in loops]
        )


def _sums_products(op: ir.Operation) -> bool:
    """Returns whether a generic sums products of two operands, and computes of the sums alone."""
    (block,) = op.regions[0].blocks
    inputs = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    if len(op.operands) != inputs + 1 or is_used(block.arguments[inputs]):
        return False
    sums = 0
    for child in block:
        inner = child.operation
        if inner.name == _REDUCE:
            owner = inner.operands[0].owner
            sums += isinstance(owner, ir.OpView | ir.Operation) and owner.operation.name in (
                "arith.mulf",
                "arith.muli",
            )
        elif not inner.name.startswith(_COMPUTES) and inner.name != "linalg.yield":
            return False
    return sums == 1


def _maps(op: ir.Operation) -> list[ir.AffineMap]:
    return [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]
