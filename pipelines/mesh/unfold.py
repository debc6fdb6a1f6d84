"""Linalg operations with several loops in place of one, so that reshapes move past them.

Heads that are a dim of their own are divided evenly; collapsed with the batch they are not:
  %a = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<2x4x8x8xf32> into tensor<8x8x8xf32>
  %y = linalg.batch_matmul ins(%a, %b) ... -> tensor<8x8x8xf32>
becomes
  %z = linalg.generic {... (b, h, m, k), (b, h, k, n) -> (b, h, m, n) ...} ins(%x, ...)
         -> tensor<2x4x8x8xf32>
  %y = tensor.collapse_shape %z [[0, 1], [2], [3]] : tensor<2x4x8x8xf32> into tensor<8x8x8xf32>
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import indexing_maps, ir
from ...dialects.records import dataclass
from ..fusion.access import Access, access, loops_in
from ..fusion.generic import CONFIGURATION, GENERIC, inputs_of
from ..tensors import collapsed, expanded
from ..walking import defining_operation, operations_where
from .loops import parallel_loops

Groups = list[list[int]]


@dataclass(frozen=True)
class Unfolded:
    """The operation with more loops, and its operands' and results' reshapes, in their order."""

    operations: Sequence[ir.Operation]
    generic: ir.Operation
    results: Sequence[ir.Value]
    groups: Groups


def unfold(
    op: ir.Operation,
    shape: Sequence[int],
    groups: Groups,
    number: int,
    types: Sequence[ir.RankedTensorType | None],
    source: Callable[[int, Groups, list[int]], ir.Value | None],
) -> Unfolded | None:
    """Writes, before a linalg operation, one that takes operand `number` before its collapse.

    `shape` and `groups` are the sizes before it and what it collapses; `types` are the operands' as
    wholes. `source` returns an operand of these sizes where it is there without a reshape. None
    where a loop is no dim by itself everywhere, is counted, or a size is open.
    """
    if any(kind is not None and DYNAMIC in kind.shape for kind in types):
        return None
    maps = [access(value, map_) for value, map_ in zip(op.operands, indexing_maps(op), strict=True)]
    split: dict[int, list[int]] = {}
    for each, group in zip(maps[number].index, groups, strict=True):
        if len(group) == 1:
            continue
        sizes = [shape[dim] for dim in group]
        if not isinstance(each, int) or DYNAMIC in sizes or each in split:
            return None
        split[each] = sizes
    counted = operations_where(op, lambda inner: inner.name == "linalg.index")
    if any(ir.IntegerAttr(inner.attributes["dim"]).value in split for inner in counted):
        return None
    for each in maps:
        if any(not isinstance(index, int) and loops_in(index) & set(split) for index in each.index):
            return None
    return _Unfolding(op, maps, split, types, source).write()


class _Unfolding:
    def __init__(
        self,
        op: ir.Operation,
        maps: Sequence[Access],
        split: Mapping[int, list[int]],
        types: Sequence[ir.RankedTensorType | None],
        source: Callable[[int, Groups, list[int]], ir.Value | None],
    ) -> None:
        self._op = op
        self._maps = maps
        self._split = split
        self._types = types
        self._source = source
        self._made: list[ir.Operation] = []
        # The first of the loops that a loop becomes.
        self._names: list[int] = []
        self._count = 0
        for loop in range(indexing_maps(op)[0].n_dims):
            self._names.append(self._count)
            self._count += len(split.get(loop, [0]))

    def write(self) -> Unfolded:
        op, first = self._op, len(inputs_of(self._op))
        wholes: list[list[int] | None] = []
        operands: list[ir.Value] = []
        for number, value in enumerate(op.operands):
            groups, sizes = self._unfolded(number)
            wholes.append(sizes)
            operands.append(self._operand(number, value, groups, sizes))
        parallel = set(parallel_loops(op))
        kinds = [
            "parallel" if loop in parallel else "reduction"
            for loop in range(len(self._names))
            for _ in self._split.get(loop, [0])
        ]
        results: list[ir.Type] = []
        for number in range(first, len(op.operands)):
            kind, sizes = self._types[number], wholes[number]
            assert kind is not None
            assert sizes is not None
            results.append(ir.RankedTensorType.get(sizes, kind.element_type))
        maps = [ir.AffineMapAttr.get(self._map(each)) for each in self._maps]
        generic = ir.Operation.create(
            GENERIC,
            results=results,
            operands=operands,
            attributes={
                "indexing_maps": ir.ArrayAttr.get(maps),
                "iterator_types": ir.ArrayAttr.get(
                    [ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds]
                ),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([first, len(results)]),
            },
            regions=1,
        )
        if CONFIGURATION in op.attributes:
            generic.attributes[CONFIGURATION] = op.attributes[CONFIGURATION]
        op.regions[0].blocks[0].append_to(generic.regions[0])
        for inner in operations_where(generic, lambda inner: inner.name == "linalg.index"):
            dim = self._names[ir.IntegerAttr(inner.attributes["dim"]).value]
            inner.attributes["dim"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dim)
        self._made.append(generic)
        folded = [self._fold(number, generic) for number in range(len(results))]
        groups, _ = self._unfolded(first)
        return Unfolded(self._made, generic, folded, groups)

    def _unfolded(self, number: int) -> tuple[Groups, list[int] | None]:
        """Returns an operand's groups of dims, and its sizes then; None where it is a scalar."""
        kind, groups = self._types[number], Groups()
        if kind is None:
            return groups, None
        sizes: list[int] = []
        for index, size in zip(self._maps[number].index, kind.shape, strict=True):
            parts = self._split.get(index, [size]) if isinstance(index, int) else [size]
            groups.append(list(range(len(sizes), len(sizes) + len(parts))))
            sizes += parts
        return groups, sizes

    def _operand(
        self, number: int, value: ir.Value, groups: Groups, sizes: list[int] | None
    ) -> ir.Value:
        if sizes is None or all(len(group) == 1 for group in groups):
            return value
        there = self._source(number, groups, sizes)
        if there is not None:
            return there
        kind = self._types[number]
        assert kind is not None
        made = defining_operation(
            expanded(value, ir.RankedTensorType.get(sizes, kind.element_type), groups)
        )
        self._made.append(made)
        return made.results[0]

    def _map(self, each: Access) -> ir.AffineMap:
        index: list[ir.AffineExpr] = []
        for one, name in zip(each.index, each.renamed(self._names).index, strict=True):
            if isinstance(one, int):
                assert isinstance(name, int)
                loops = range(name, name + len(self._split.get(one, [0])))
                index += [ir.AffineExpr.get_dim(loop) for loop in loops]
            else:
                assert not isinstance(name, int)
                index.append(name)
        return ir.AffineMap.get(self._count, 0, index)

    def _fold(self, result: int, generic: ir.Operation) -> ir.Value:
        """The reshape of a result to what the operation gave."""
        number = len(inputs_of(self._op)) + result
        groups, _ = self._unfolded(number)
        if all(len(group) == 1 for group in groups):
            return generic.results[result]
        kind = self._types[number]
        assert kind is not None
        made = defining_operation(collapsed(generic.results[result], kind, groups))
        self._made.append(made)
        return made.results[0]


def expanded_then_collapsed(
    value: ir.Value,
    whole: ir.RankedTensorType,
    merged: Groups,
    view: ir.RankedTensorType,
    split: Groups,
) -> list[ir.Operation] | None:
    """Writes what a collapse and then an expansion are together: an expansion and then a collapse.

    None where a dim is made of some dims and becomes others.
    """
    middle: list[int] = []
    first: Groups = []
    last: Groups = []
    for before, after in zip(merged, split, strict=True):
        given, wanted = (
            [kind.shape[dim] for dim in group] for kind, group in ((whole, before), (view, after))
        )
        start = len(middle)
        if given == wanted:
            middle += given
            first += [[start + place] for place in range(len(given))]
            last += [[start + place] for place in range(len(given))]
        elif len(before) == 1:
            middle += wanted
            first.append(list(range(start, len(middle))))
            last += [[start + place] for place in range(len(wanted))]
        elif len(after) == 1:
            middle += given
            first += [[start + place] for place in range(len(given))]
            last.append(list(range(start, len(middle))))
        else:
            return None
    made: list[ir.Operation] = []
    if len(middle) > whole.rank:
        kind = ir.RankedTensorType.get(middle, whole.element_type)
        made.append(defining_operation(expanded(value, kind, first)))
        value = made[-1].results[0]
    if len(middle) > view.rank:
        made.append(defining_operation(collapsed(value, view, last)))
    return made
