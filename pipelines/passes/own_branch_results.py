"""own-branch-results: each branch of an scf.if gives buffers of its own."""

from __future__ import annotations

from typing import ClassVar

from ...dialects import hir
from ...dialects.hir.layout import buffer_type
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..call_graph import functions_by_name
from ..pass_base import Pass, fail, register
from ..walking import operations_where
from .select_host_programs import MARK

# Operations of memref that give other memory than that of their first operand.
_OTHERS = ("memref.alloc", "memref.get_global")
_Functions = dict[str, ir.Operation]


@register
@dataclass(frozen=True)
class OwnBranchResults(Pass):
    """Copies what a branch gives from outside, so that a result of scf.if has one owner.

    Of a result that both branches give from the same buffer of the outside, the buffer is taken.
    A branch ends with the copy: it then sees what the branch wrote. (Canonicalization makes a
    choice before the scf.if of two buffers of the outside.)

      %y = scf.if %c -> memref<4xf32> {
        linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
        scf.yield %a : memref<4xf32>
      } else {
        %fresh = memref.alloc() : memref<4xf32>
        ...
        scf.yield %fresh : memref<4xf32>
      }
    becomes
      %y = scf.if %c -> memref<4xf32> {
        linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
        %copy = "hir.set"(%a) : (memref<4xf32>) -> memref<4xf32>
        scf.yield %copy : memref<4xf32>
      } else {
        ...
    """

    name: ClassVar[str] = "own-branch-results"

    def run(self, op: ir.Operation) -> None:
        functions = functions_by_name(op)
        for function in operations_where(op, lambda inner: MARK in inner.attributes):
            # What an inner one gives is settled before the outer one gives it on.
            for branch in reversed(operations_where(function, _gives_buffers)):
                _own(branch, functions)


def _gives_buffers(op: ir.Operation) -> bool:
    return op.name == "scf.if" and any(
        isinstance(result.type, ir.MemRefType) for result in op.results
    )


def _own(op: ir.Operation, functions: _Functions) -> None:
    ends = [list(region.blocks[0].operations)[-1].operation for region in op.regions]
    taken: list[set[ir.Value]] = [set(), set()]
    for place, result in enumerate(op.results):
        if not isinstance(result.type, ir.MemRefType):
            continue
        one, other = (end.operands[place] for end in ends)
        if one == other:
            result.replace_all_uses_with(one)
            continue
        for end, mine in zip(ends, taken, strict=True):
            root = _root(end.operands[place], functions)
            if root in mine or not _begins_in(root, end.block):
                end.operands[place] = _copied(end, place, result.type)
            mine.add(root)


def _root(value: ir.Value, functions: _Functions) -> ir.Value:
    """Returns the buffer whose memory a buffer is in, as far as the operations say it."""
    while not isinstance(value.owner, ir.Block):
        maker = value.owner.operation
        number = ir.OpResult(value).result_number
        if maker.name == "scf.for":
            value = maker.operands[3 + number]
        elif maker.name.startswith("memref.") and maker.name not in _OTHERS:
            value = maker.operands[0]
        elif maker.name == "func.call":
            given = _root(_returned(maker, number, functions), functions)
            if not isinstance(given, ir.BlockArgument):
                return value
            value = maker.operands[given.arg_number]
        else:
            return value
    return value


def _returned(call: ir.Operation, number: int, functions: _Functions) -> ir.Value:
    callee = functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value]
    body = callee.regions[0].blocks[0]
    return list(body.operations)[-1].operation.operands[number]


def _begins_in(root: ir.Value, block: ir.Block) -> bool:
    owner = root.owner
    return (
        not isinstance(owner, ir.Block)
        and owner.operation.block == block
        and owner.operation.name != "memref.get_global"
    )


def _copied(end: ir.Operation, place: int, kind: ir.MemRefType) -> ir.Value:
    packed = buffer_type(kind.shape, kind.element_type)
    if not _is_cast(packed, kind):
        fail(
            end,
            f"a branch that gives a view of other tensors, {kind}: copy it (linalg.copy) in both",
        )
    with ir.InsertionPoint(end), end.location:
        value = end.operands[place]
        copy = ir.Operation.create(hir.SetOp.OPERATION_NAME, [packed], [value]).results[0]
        if packed == kind:
            return copy
        return ir.Operation.create("memref.cast", [kind], [copy]).results[0]


def _is_cast(packed: ir.MemRefType, kind: ir.MemRefType) -> bool:
    """Returns whether a packed buffer may be of a type with the layout of a view."""
    strides, offset = packed.get_strides_and_offset()
    wanted, start = kind.get_strides_and_offset()
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    return all(
        want == unknown or have in (want, unknown)
        for have, want in zip([offset, *strides], [start, *wanted], strict=True)
    )
