"""Rows of tensors of 16-bit products that begin at multiples of 16 bytes.

Of other rows cuBLASLt computes products element by element, several times as slowly. The rates are
those of an H200.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import prod

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from .contraction import read_contraction
from .narrow import unwritten
from .product import Indexed, Product

ROW_BYTES = 16
# Operations a second of bf16 products of 8192 x 768 x 50257: the library's kernel for any rows
# (cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1), and those for rows as they are here.
ANY_ROWS, WHOLE_ROWS = 95e12, 650e12
# Bytes a second, read and written; and what a kernel takes in a stream full of calls.
MEMORY, LAUNCH = 4.2e12, 3.3e-6
# What a size that is open is taken to be.
OPEN_SIZE = 1024

_BYTES = {"f16": 2, "bf16": 2, "f32": 4}


@dataclass(frozen=True)
class _Copies:
    """What padded rows cost: so many kernels, and bytes that they read and write."""

    kernels: int = 0
    moved: int = 0

    @property
    def seconds(self) -> float:
        return self.kernels * LAUNCH + self.moved / MEMORY


def pad_rows(op: ir.Operation, product: Product) -> None:
    """Gives the tensors of a product that the library computes whole rows, where that is faster."""
    if product.first.element not in ("f16", "bf16"):
        return
    ragged: list[Indexed] = []
    for each in product.matrices:
        run = _run(product, each)
        if not run or _has_whole_rows(each, run):
            continue
        if len(run) > 1 or run[0] == DYNAMIC:
            return
        if all(each.value != other.value for other in ragged):
            ragged.append(each)
    if product.result in ragged and _home(op) is None:
        return
    costs = [_copies(op, product, each) for each in ragged]
    if not ragged or sum(cost.seconds for cost in costs) >= _saved(product):
        return
    for each in ragged:
        producer = _producer_of_rows(each.value)
        if each is product.result:
            _pad_home(op)
        elif producer is not None:
            _pad_home(producer)
        else:
            _pad_operand(op, each.value)
    if product.result in ragged:
        _copy_for_others(op)


def _run(product: Product, operand: Indexed) -> list[int]:
    """The sizes of the last dims, whose loops are of one kind: they are a row of a packed matrix.

    None of them where there is one row only.
    """
    places = [
        (product.kind(loop), size)
        for loop, size in zip(operand.dims, operand.type.shape, strict=True)
        if size != 1
    ]
    run = list(takewhile(lambda place: place[0] == places[-1][0], reversed(places)))
    return [] if len(run) == len(places) else [size for _, size in reversed(run)]


def _has_whole_rows(operand: Indexed, run: list[int]) -> bool:
    source = _defining(operand.value)
    if len(run) == 1 and source is not None and source.name == "tensor.extract_slice":
        run = ir.RankedTensorType(source.operands[0].type).shape[-1:]
    # What is open is taken for 1: rows are whole ones anyway where the others are.
    known = prod(size for size in run if size != DYNAMIC)
    return known * _BYTES[operand.element] % ROW_BYTES == 0 or _is_padded(operand.value)


def _is_padded(value: ir.Value) -> bool:
    op = _defining(value)
    if op is None or not op.name.startswith("linalg.") or len(op.results) != 1:
        return False
    output = _defining(op.operands[len(op.operands) - 1])
    return output is not None and output.name == "tensor.extract_slice" and _is_row_slice(output)


def _is_row_slice(op: ir.Operation) -> bool:
    """Whether it is of a tensor that _padded made."""
    whole, part = (ir.RankedTensorType(each.type) for each in (op.operands[0], op.results[0]))
    made = _defining(op.operands[0])
    return made is not None and made.name == "tensor.empty" and whole == _whole(part)


def _saved(product: Product) -> float:
    """The seconds that whole rows save the library."""
    sizes = [product.size(loop) for loop in range(product.loops)]
    operations = 2 * prod(OPEN_SIZE if size == DYNAMIC else size for size in sizes)
    least = sum(map(_bytes, (each.type for each in product.matrices))) / MEMORY
    return max(operations / ANY_ROWS, least) - max(operations / WHOLE_ROWS, least)


def _copies(op: ir.Operation, product: Product, operand: Indexed) -> _Copies:
    """What is copied where an operand, or the result, has padded rows."""
    if operand is product.result:
        is_free = all(_reads_rows(use) for use in op.results[0].uses)
    else:
        is_free = _producer_of_rows(operand.value) is not None
    return _Copies() if is_free else _Copies(1, 2 * _bytes(operand.type))


def _bytes(kind: ir.ShapedType) -> int:
    sizes = [OPEN_SIZE if size == DYNAMIC else size for size in kind.shape]
    return prod(sizes) * _BYTES[str(kind.element_type)]


def _producer_of_rows(value: ir.Value) -> ir.Operation | None:
    """The operation that may write a tensor with padded rows; None where there is no such."""
    op = _defining(value)
    if op is None or _home(op) is None or not all(_reads_rows(use) for use in value.uses):
        return None
    product = read_contraction(op)
    return op if product is None or len(_run(product, product.result)) == 1 else None


def _home(op: ir.Operation) -> ir.Operation | None:
    """The tensor.empty that an operation of linalg writes its one result to."""
    if not op.name.startswith("linalg.") or len(op.results) != 1:
        return None
    output = _defining(op.operands[len(op.operands) - 1])
    return output if output is not None and output.name == "tensor.empty" else None


def _reads_rows(use: ir.OpOperand) -> bool:
    """Whether an operation reads a tensor by its strides, whichever they are, at no cost."""
    op = use.owner.operation
    if not op.name.startswith("linalg.") or use.operand_number >= len(op.operands) - len(
        op.results
    ):
        return False
    product = read_contraction(op)
    return product is None or all(
        len(_run(product, each)) <= 1
        for each in product.matrices
        if each.value == op.operands[use.operand_number]
    )


def _pad_home(op: ir.Operation) -> None:
    """Lets an operation write to padded rows."""
    home = _home(op)
    assert home is not None
    with op.location, ir.InsertionPoint(op):
        op.operands[len(op.operands) - 1] = _padded(home)


def _pad_operand(op: ir.Operation, value: ir.Value) -> None:
    """Lets an operation read a copy with padded rows."""
    with op.location, ir.InsertionPoint(op):
        home = _defining(unwritten(value, ir.RankedTensorType(value.type).element_type))
        assert home is not None
        copy = _copy(value, _padded(home))
        home.erase()
    for place, operand in enumerate(op.operands):
        if operand == value:
            op.operands[place] = copy


def _copy_for_others(op: ir.Operation) -> None:
    """Hands those that do not read rows by their strides a packed copy of an operation's result."""
    result = op.results[0]
    uses = [use for use in result.uses if not _reads_rows(use)]
    if not uses:
        return
    with op.location, ir.InsertionPoint.after(op):
        packed = unwritten(
            op.operands[len(op.operands) - 1], ir.RankedTensorType(result.type).element_type
        )
        copy = _copy(result, packed)
    for use in uses:
        use.owner.operation.operands[use.operand_number] = copy


def _copy(value: ir.Value, to: ir.Value) -> ir.Value:
    """A linalg.generic that copies a tensor."""
    kind = ir.RankedTensorType(value.type)
    same = ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    copy = ir.Operation.create(
        "linalg.generic",
        results=[kind],
        operands=[value, to],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([same, same]),
            "iterator_types": ir.ArrayAttr.get([parallel] * kind.rank),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
        },
        regions=1,
    )
    block = copy.regions[0].blocks.append(kind.element_type, kind.element_type)
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
    return copy.results[0]


def _padded(home: ir.Operation) -> ir.Value:
    """A part of a new tensor, of the sizes of `home` and rows that begin at whole ROW_BYTES."""
    kind = ir.RankedTensorType(home.results[0].type)
    sizes = list(home.operands)
    whole = ir.Operation.create("tensor.empty", [_whole(kind)], sizes).results[0]
    return ir.Operation.create(
        "tensor.extract_slice",
        results=[kind],
        operands=[whole, *sizes],
        attributes={
            "static_offsets": _numbers([0] * kind.rank),
            "static_sizes": _numbers(kind.shape),
            "static_strides": _numbers([1] * kind.rank),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, len(sizes), 0]),
        },
    ).results[0]


def _whole(kind: ir.RankedTensorType) -> ir.RankedTensorType:
    """The type with rows of whole ROW_BYTES."""
    *outer, row = kind.shape
    step = ROW_BYTES // _BYTES[str(kind.element_type)]
    return ir.RankedTensorType.get([*outer, -(-row // step) * step], kind.element_type)


def _numbers(values: Sequence[int]) -> ir.DenseI64ArrayAttr:
    return ir.DenseI64ArrayAttr.get(list(values))


def _defining(value: ir.Value) -> ir.Operation | None:
    return None if isinstance(value.owner, ir.Block) else value.owner.operation
