"""expand-multi-reduction: vector.multi_reduction, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import ClassVar

from ...dialects.mlir import arith, ir, vector
from ...dialects.records import dataclass
from ..lane_reduction import named_reduction
from ..pass_base import Pass, fail, register
from ..rewriting import element_type
from ..walking import operations_where


@register
@dataclass(frozen=True)
class ExpandMultiReduction(Pass):
    """Expands vector.multi_reduction; a masked one combines only what its mask allows.

    Each element of the result is combined in row-major order of the reduced dimensions, beginning
    with the accumulator. Upstream's lowering of it runs on func.func alone.

      %r = vector.multi_reduction <add>, %v, %acc [0] : vector<2xf32> to f32
    becomes
      %0 = arith.addf %acc, (vector.extract %v[0])
      %r = arith.addf %0, (vector.extract %v[1])
    """

    name: ClassVar[str] = "expand-multi-reduction"
    subjects: ClassVar[tuple[str, ...]] = ("vector.multi_reduction",)

    def run(self, op: ir.Operation) -> None:
        for found in operations_where(op, lambda inner: inner.name == "vector.multi_reduction"):
            around = found.parent
            mask = around.operation if around and around.name == "vector.mask" else None
            replaced = mask or found
            with found.location, ir.InsertionPoint(replaced):
                result = _expand(found, mask.operands[0] if mask else None)
            replaced.results[0].replace_all_uses_with(result)
            replaced.erase()


def _expand(op: ir.Operation, mask: ir.Value | None) -> ir.Value:
    source, initial = op.operands
    kind = ir.VectorType(source.type)
    if any(kind.scalable_dims):
        fail(op, f"vectors of scalable size, such as {kind}, cannot be reduced")
    name = str(op.attributes["kind"]).removeprefix("#vector.kind<").removesuffix(">")
    reduction = named_reduction(name, kind.element_type)
    reduced = set(ir.DenseI64ArrayAttr(op.attributes["reduction_dims"]))
    kept = [range(size) for axis, size in enumerate(kind.shape) if axis not in reduced]
    folded = [range(size) for axis, size in enumerate(kind.shape) if axis in reduced]
    rows: list[ir.Value] = []
    for place in product(*kept):
        value = vector.extract(initial, [], place) if place else initial
        for inner in product(*folded):
            position = _position(kind.rank, reduced, place, inner)
            combined = reduction.combine(value, vector.extract(source, [], position))
            if mask is not None:
                combined = arith.select(vector.extract(mask, [], position), combined, value)
            value = combined
        rows.append(value)
    result = op.results[0].type
    if element_type(result) == result:
        return rows[0]
    return vector.from_elements(result, rows)


def _position(
    rank: int, reduced: set[int], kept: Sequence[int], folded: Sequence[int]
) -> list[int]:
    outer, inner = iter(kept), iter(folded)
    return [next(inner) if axis in reduced else next(outer) for axis in range(rank)]
