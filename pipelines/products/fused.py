"""Products on tensors in one operation with what they begin and end with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...dialects.mlir import arith, indexing_maps, ir
from ...dialects.records import dataclass
from ..generics import emit_generic, reduce_over
from ..walking import is_used
from .contraction import bias_and_addend, is_product, only_computes
from .fills import is_plus_zero, is_zero
from .finish import read_activation
from .product import NO_LOOP, Indexed, Product, indexed_by


@dataclass(frozen=True)
class Following:
    """An elementwise operation and the product that it finishes.

    `places` are those of its operands: the product's sum, and what it adds.
    """

    op: ir.Operation
    product: Product
    places: tuple[int, ...]


def begins_with_zeros(product: Product) -> bool:
    """Returns whether a product on tensors adds to zeros."""
    owner = product.result.value.owner
    if not product.accumulates or isinstance(owner, ir.Block):
        return False
    if owner.operation.name == "linalg.fill":
        return is_zero(owner.operation.operands[0])
    return owner.operation.name == "arith.constant" and _is_zeros(owner.operation)


def _is_zeros(op: ir.Operation) -> bool:
    attribute = op.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return False
    return is_plus_zero(attribute.get_splat_value())


def _unwritten(zeros: ir.Value) -> ir.Value:
    """Returns a tensor of the size of one that begins_with_zeros found, its elements
    not written.
    """
    assert not isinstance(zeros.owner, ir.Block)
    op = zeros.owner.operation
    if op.name == "linalg.fill":
        return op.operands[1]
    return ir.Operation.create("tensor.empty", results=[zeros.type]).results[0]


def find_following(
    op: ir.Operation, product: Product, *, ignores_nan: bool = False
) -> Following | None:
    """Returns the elementwise operation that alone reads the product, where the library can do its
    work.

    With `ignores_nan` it does not matter what it makes of a nan.
    """
    uses = list(op.results[0].uses)
    if len(uses) != 1 or NO_LOOP in product.result.dims:
        return None
    reader = uses[0].owner.operation
    place = uses[0].operand_number
    if reader.block != op.block or not is_elementwise(reader, place):
        return None
    *inputs, output = [
        indexed_by(value, map_)
        for value, map_ in zip(reader.operands, indexing_maps(reader), strict=True)
    ]
    total = inputs[place]
    if total is None or output is None:
        return None
    names = dict(zip(total.dims, product.result.dims, strict=True))
    result = _renamed_output(output, total, product.result)
    others = [number for number in range(len(inputs)) if number != place]
    renamed = [_renamed(inputs[number], names) for number in others]
    block = reader.regions[0].blocks[0]
    element = block.arguments[len(inputs)].type
    # A sum that is narrower than the result is rounded to that before.
    if product.result.element not in ("f32", "f64", str(element)):
        return None
    activation = read_activation(
        list(block)[-1].operation.operands[0],
        block.arguments[place],
        [block.arguments[number] for number in others],
        element,
        ignores_nan=ignores_nan,
    )
    read = [each for each in renamed if each is not None]
    if activation is None or result is None or len(read) < len(renamed):
        return None
    added = bias_and_addend(read, result)
    if added is None:
        return None
    bias, addend = added
    finished = replace(
        product,
        result=result,
        bias=bias,
        addend=addend,
        activation=activation,
        accumulates=False,
    )
    is_whole = is_product(finished) and _has_bias_of_rows(finished)
    places = [others[read.index(each)] for each in finished.inputs[2:]]
    return Following(reader, finished, (place, *places)) if is_whole else None


def _has_bias_of_rows(product: Product) -> bool:
    """Returns whether the bias, if there is one, has an element for each of a row of the result.

    For another one, or one of several loops of the row, the library would be called many times.
    """
    if product.bias is None:
        return True
    (loop,) = product.bias.dims
    in_row = [
        other
        for other in range(product.loops)
        if product.kind(other) == product.kind(loop) and product.size(other) != 1
    ]
    return product.result.dims[-1] == loop and in_row in ([], [loop])


def is_elementwise(op: ir.Operation, place: int) -> bool:
    """Returns whether it is a linalg.generic of one result that reads its inputs element by
    element.
    """
    if op.name != "linalg.generic" or len(op.results) != 1 or place >= len(op.operands) - 1:
        return False
    kinds = [str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])]
    output = op.regions[0].blocks[0].arguments[len(op.operands) - 1]
    return (
        all("parallel" in kind for kind in kinds)
        and not is_used(output)
        and only_computes(op.regions[0].blocks[0])
    )


def _renamed_output(output: Indexed, total: Indexed, result: Indexed) -> Indexed | None:
    """Returns what an operation writes, in the loops of the product that it reads as `total`.

    Dims of one element that no loop indexes are the product's that it reads so, and there may be
    more of them.
    """
    pairs = list(zip(total.dims, result.dims, strict=True))
    names = {loop: own for loop, own in pairs if loop != NO_LOOP}
    ones = [own for loop, own in pairs if loop == NO_LOOP]
    loops = [loop for loop in output.dims if loop != NO_LOOP]
    if sorted(loops) != sorted(names) or len(ones) > len(output.dims) - len(loops):
        return None
    ones += [NO_LOOP] * (len(output.dims) - len(loops) - len(ones))
    rest = iter(ones)
    return Indexed(
        output.value,
        tuple(next(rest) if loop == NO_LOOP else names[loop] for loop in output.dims),
    )


def _renamed(operand: Indexed | None, names: dict[int, int]) -> Indexed | None:
    """Returns the operand in the loops of the product."""
    if operand is None or any(loop not in names for loop in operand.dims):
        return None
    return Indexed(operand.value, tuple(names[loop] for loop in operand.dims))


def build(op: ir.Operation, product: Product, following: Following | None) -> ir.Operation:
    """Puts one linalg.generic in the place of a product that adds to zeros and what follows it."""
    last = op if following is None else following.op
    with last.location, ir.InsertionPoint(last):
        outputs = _unwritten(product.result.value) if following is None else list(last.operands)[-1]
    whole = product if following is None else following.product

    def body(given: Sequence[ir.Value]) -> list[ir.Value]:
        total = _sum(given[:2], product)
        return [total if following is None else _cloned(following, [total, *given[2:]])]

    with last.location, ir.InsertionPoint(last):
        inputs = list(map(product.mapped, whole.inputs))
        output = product.mapped(Indexed(outputs, whole.result.dims))
        generic = emit_generic(product.loops, product.summed, inputs, [output], body)
    last.results[0].replace_all_uses_with(generic.results[0])
    last.erase()
    if following is not None:
        op.erase()
    return generic


def _sum(given: Sequence[ir.Value], product: Product) -> ir.Value:
    """Returns the sum over k, in the element type that the product gives."""
    wide = ir.F64Type.get() if product.first.element == "f64" else ir.F32Type.get()
    factors = [value if value.type == wide else arith.extf(wide, value) for value in given]
    total = reduce_over(product.summed, "addf", arith.mulf(*factors))
    result = product.result.type.element_type
    return total if result == wide else arith.truncf(result, total)


def _cloned(following: Following, arguments: Sequence[ir.Value]) -> ir.Value:
    """Returns what the next operation makes of the sum and of what it adds."""
    source = following.op.regions[0].blocks[0]
    values: dict[ir.Value, ir.Value] = {
        source.arguments[place]: value
        for place, value in zip(following.places, arguments[:-1], strict=True)
    }
    return clone_body(source, values)


def clone_body(source: ir.Block, values: dict[ir.Value, ir.Value]) -> ir.Value:
    """Clones what a region of one result computes; gives that. `values` stand for its arguments."""
    *work, end = source.operations
    for inner in work:
        copy = inner.operation.clone()
        for number, operand in enumerate(inner.operation.operands):
            copy.operands[number] = values.get(operand, operand)
        for old, new in zip(inner.operation.results, copy.results, strict=True):
            values[old] = new
    yielded = end.operation.operands[0]
    return values.get(yielded, yielded)
