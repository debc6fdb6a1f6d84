"""Zeros around a tensor, as padding has them."""

from __future__ import annotations

from ...dialects.mlir import ir
from ..fusion.access import reassociation
from ..products.fills import is_plus_zero
from ..tensors import expanded
from ..walking import made_by


def bare(value: ir.Value) -> tuple[ir.Value, list[int], list[int]]:
    """Returns a tensor without the zeros around it, and how many these are along its dims.

    It may have been reshaped since, along dims without zeros around them.
    """
    kind = ir.RankedTensorType(value.type)
    pad = made_by(value, "tensor.pad")
    if pad is not None and is_padded_with_one(pad):
        number = list(pad.regions[0].blocks[0])[-1].operation.operands[0]
        lows, highs = (
            list(ir.DenseI64ArrayAttr(pad.attributes[f"static_{at}"])) for at in ("low", "high")
        )
        if min((*lows, *highs)) >= 0 and _is_zero(number):
            return pad.operands[0], lows, highs
    expand = made_by(value, "tensor.expand_shape")
    if expand is not None:
        source, lows, highs = bare(expand.operands[0])
        groups = reassociation(expand)
        amounts = [(low, high) for low, high in zip(lows, highs, strict=True)]
        split = [len(group) > 1 for group in groups]
        if any(map(sum, amounts)) and not any(
            is_split and sum(each) for is_split, each in zip(split, amounts, strict=True)
        ):
            around = {group[0]: each for group, each in zip(groups, amounts, strict=True)}
            both = [around.get(dim, (0, 0)) for dim in range(kind.rank)]
            sizes = [size - sum(each) for size, each in zip(kind.shape, both, strict=True)]
            made = expanded(source, ir.RankedTensorType.get(sizes, kind.element_type), groups)
            return made, [low for low, _ in both], [high for _, high in both]
    return value, [0] * kind.rank, [0] * kind.rank


def _is_zero(value: ir.Value) -> bool:
    made = made_by(value, "arith.constant")
    return made is not None and is_plus_zero(made.attributes["value"])


def is_padded_with_one(pad: ir.Operation) -> bool:
    """Returns whether a tensor.pad pads with one number, which is known outside of its region."""
    block = pad.regions[0].blocks[0]
    owner = list(block)[-1].operation.operands[0].owner
    is_outside = (owner if isinstance(owner, ir.Block) else owner.operation.block) != block
    return len(pad.operands) == 1 and is_outside
