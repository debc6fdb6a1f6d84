"""Reading a linalg operation, on buffers or tensors, as a matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...dialects.mlir import indexing_maps, ir
from ..walking import is_used, made_by
from .finish import read_activation
from .product import Indexed, LoopKind, Product, indexed_by

# Element types of operands, with those of the results that the library gives their sums.
RESULTS = {
    "f32": ("f32",),
    "tf32": ("tf32", "f32"),
    "f64": ("f64",),
    "f16": ("f16", "f32"),
    "bf16": ("bf16", "f32"),
}
_EXTENSIONS = ("arith.extf", "arith.extsi", "arith.extui")


def may_be_product(op: ir.Operation) -> bool:
    """Returns whether an operation has as many operands and results as a matrix product."""
    return op.name.startswith("linalg.") and len(op.operands) == 3 and len(op.results) == 1


def read_contraction(op: ir.Operation, *, ignores_nan: bool = False) -> Product | None:
    """Returns the product that a linalg operation computes, None where the library has no such.

    It sums products of two inputs, in the result's type or a wider one that is no wider than the
    library's: either into its output, so that it accumulates, or by a hir.reduce_loops. To such a
    sum a bias and an addend may be added, an activation applied, and it may be rounded, before it
    is yielded. With `ignores_nan` the activation may make anything of a nan.
    """
    product = read_product(op, ignores_nan=ignores_nan)
    return product if product is not None and is_product(product) else None


def read_product(op: ir.Operation, *, ignores_nan: bool = False) -> Product | None:
    """Returns the product that a linalg operation computes, of elements of whatever types."""
    if not op.name.startswith("linalg.") or not 3 <= len(op.operands) <= 5 or not _has_body(op):
        return None
    indexed = [
        indexed_by(value, map_) for value, map_ in zip(op.operands, indexing_maps(op), strict=True)
    ]
    found = [each for each in indexed if each is not None]
    block = op.regions[0].blocks[0]
    if len(found) < len(indexed) or len(list(block.arguments)) != len(found):
        return None
    if not only_computes(block):
        return None
    product = _accumulated(block, found) or _reduced(block, found, ignores_nan=ignores_nan)
    return product if product is not None and product.is_contraction else None


def only_computes(block: ir.Block) -> bool:
    """Returns whether the region does nothing but compute what it yields: it asserts nothing, for
    one.
    """
    names = [each.operation.name for each in block]
    return all(
        name.startswith(("arith.", "math.")) or name in ("hir.reduce_loops", "linalg.yield")
        for name in names
    )


def _has_body(op: ir.Operation) -> bool:
    return (
        len(list(op.regions)) == 1
        and "operandSegmentSizes" in op.attributes
        and all(isinstance(value.type, ir.ShapedType) for value in op.operands)
        and ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[1] == 1
    )


def is_product(product: Product) -> bool:
    """Returns whether the library has the element types, and every loop is one of a product."""
    first, second, result = product.matrices
    if first.element != second.element or result.element not in RESULTS.get(first.element, ()):
        return False
    if not product.is_contraction:
        return False
    if product.activation and first.element == "f64":
        return False
    bias = product.bias
    return bias is None or (
        first.element != "f64"
        and bias.element == result.element
        and len(bias.dims) == 1
        and bias.dims[0] >= 0
        and product.kind(bias.dims[0]) in (LoopKind.M, LoopKind.N)
    )


def _accumulated(block: ir.Block, operands: list[Indexed]) -> Product | None:
    """Returns the product of `yield term + output`."""
    added = made_by(_yielded(block), "arith.addf", "arith.addi")
    if added is None or len(operands) != 3:
        return None
    output = block.arguments[2]
    left, right = added.operands
    if output not in (left, right) or left == right:
        return None
    factors = _factors(right if left == output else left, block)
    if factors not in ([0, 1], [1, 0]):
        return None
    return Product(operands[0], operands[1], operands[2], accumulates=True)


def _reduced(block: ir.Block, operands: list[Indexed], *, ignores_nan: bool) -> Product | None:
    """Returns the product of `yield finish(sum of term)`."""
    sums = [each.operation for each in block if each.operation.name == "hir.reduce_loops"]
    output = len(operands) - 1
    if len(sums) != 1 or is_used(block.arguments[output]):
        return None
    if ir.StringAttr(sums[0].attributes["kind"]).value != "addf":
        return None
    factors = _factors(sums[0].operands[0], block)
    if factors is None or output in factors or factors[0] == factors[1]:
        return None
    # A sum that is kept in f64 is more exact than that of the library.
    if str(sums[0].results[0].type) not in ("f32", *(operands[place].element for place in factors)):
        return None
    others = [place for place in range(output) if place not in factors]
    activation = read_activation(
        _yielded(block),
        sums[0].results[0],
        [block.arguments[place] for place in others],
        block.arguments[output].type,
        ignores_nan=ignores_nan,
    )
    added = bias_and_addend([operands[place] for place in others], operands[output])
    if activation is None or added is None:
        return None
    first, second = sorted(factors)
    product = Product(operands[first], operands[second], operands[output], is_reduction=True)
    if sorted(ir.DenseI64ArrayAttr(sums[0].attributes["loops"])) != product.summed:
        return None
    bias, addend = added
    return replace(product, activation=activation, bias=bias, addend=addend)


def bias_and_addend(
    added: Sequence[Indexed], result: Indexed
) -> tuple[Indexed | None, Indexed | None] | None:
    """Returns which of what is added to a product is its bias, and which its addend.

    The addend is read in the loops of the result, one that has several. None where there are two
    of a kind, or the addend is of another element type.
    """
    addends = [each for each in added if len(each.dims) > 1 and each.dims == result.dims]
    biases = [each for each in added if each not in addends]
    if len(addends) > 1 or len(biases) > 1:
        return None
    if addends and addends[0].element != result.element:
        return None
    return (biases[0] if biases else None), (addends[0] if addends else None)


def _factors(term: ir.Value, block: ir.Block) -> list[int] | None:
    """Returns the operands whose product the term is, extended or as they are."""
    product = made_by(term, "arith.mulf", "arith.muli")
    if product is None:
        return None
    factors = [_extended(value) for value in product.operands]
    arguments: list[ir.Value] = list(block.arguments)
    if not all(value in arguments for value in factors):
        return None
    return [arguments.index(value) for value in factors]


def _extended(value: ir.Value) -> ir.Value:
    wide = made_by(value, *_EXTENSIONS)
    return value if wide is None else wide.operands[0]


def _yielded(block: ir.Block) -> ir.Value:
    return list(block)[-1].operation.operands[0]
