"""hir-resolve-aliases: what makes an aliased buffer writes into the target's memory."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..hir.compute_ops import COMPUTE_OPS
from ..hir.fresh_buffers import allocate
from ..hir.memory.alias_chains import alias_roots
from ..hir.memory.buffer_uses import replace_buffer
from ..hir.memory.destinations import add_call_destination, write_to
from ..hir.memory.owners import Owners, is_before, result_index
from ..hir.runtime_sizes import open_result_sizes
from ..locations import location_text
from ..pass_base import Pass, fail, register
from ..walking import defining_op, operations_where


@register
@dataclass(frozen=True)
class HirResolveAliases(Pass):
    """Makes the target of every hir.alias the destination of what makes the buffer.

      %t = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
      "hir.alias"(%t, %y) : (memref<8xf32>, memref<8xf32>) -> ()
    becomes
      "hir.unary"(%x, %y) {kind = "neg"} : (memref<8xf32>, memref<8xf32>) -> ()

    Chains lead to their last target. A target that is computed after the buffer gets an allocation
    before both. A hir.allocate is replaced by the target, a value of a hir.call gets it as
    destination. A view, and what another operation makes, cannot be moved.
    """

    name: ClassVar[str] = "hir-resolve-aliases"

    def run(self, op: ir.Operation) -> None:
        for program in operations_where(op, lambda inner: inner.name == "hir.program"):
            _resolve(program)


def _resolve(program: ir.Operation) -> None:
    roots = alias_roots(program)
    groups: dict[ir.Value, list[ir.Value]] = {}
    for buffer, (root, alias) in roots.items():
        groups.setdefault(root, []).append(buffer)
        _check_can_be_moved(buffer, alias)
    alias_of = {buffer: alias for buffer, (_, alias) in roots.items()}
    for alias in operations_where(program, lambda inner: inner.name == "hir.alias"):
        if alias not in alias_of.values():
            alias.erase()
    targets = {root: _available(root, buffers, alias_of) for root, buffers in groups.items()}
    for alias in alias_of.values():
        alias.erase()
    for root, buffers in groups.items():
        for buffer in buffers:
            _move(buffer, targets[root])


def _check_can_be_moved(buffer: ir.Value, alias: ir.Operation) -> None:
    maker = _maker(buffer)
    if maker.name in COMPUTE_OPS or maker.name in ("hir.allocate", "hir.call"):
        return
    fail(
        alias,
        f"the buffer comes from {maker.name} at {location_text(maker.location)}, whose memory "
        "cannot be moved: an alias is what a compute operation, hir.call or hir.allocate makes; "
        "hir.set copies",
    )


def _maker(buffer: ir.Value) -> ir.Operation:
    """Returns the operation that writes a buffer; a hir.call for its hir.result."""
    op = defining_op(buffer)
    assert op is not None
    if op.name == "hir.result":
        source = defining_op(op.operands[0])
        assert source is not None
        return source
    return op


def _available(
    root: ir.Value, buffers: list[ir.Value], alias_of: dict[ir.Value, ir.Operation]
) -> ir.Value:
    """Returns the target as a value that is there before everything that is to write to it."""
    op = defining_op(root)
    late = [buffer for buffer in buffers if op is not None and not is_before(op, _maker(buffer))]
    if op is None or not late:
        return root
    if op.name not in COMPUTE_OPS or not len(op.results):
        fail(
            alias_of[late[0]],
            f"the target, made at {location_text(op.location)}, is not there yet where the buffer "
            f"is made, at {location_text(_maker(late[0]).location)}: make the target first",
        )
    makers = [_maker(buffer) for buffer in buffers]
    first = next(
        (one for one in makers if all(one == other or is_before(one, other) for other in makers)),
        None,
    )
    if first is None or not is_before(first, op) or first.name not in COMPUTE_OPS:
        fail(
            alias_of[late[0]],
            "there is no place before both the buffer and its target, made at "
            f"{location_text(op.location)}, to allocate their memory: allocate it with "
            "hir.allocate, as the target of both",
        )
    with ir.InsertionPoint(first), first.location:
        buffer = allocate(ir.MemRefType(root.type), open_result_sizes(first))
    root.replace_all_uses_with(buffer)
    _compute_into(op, buffer)
    return buffer


def _move(buffer: ir.Value, target: ir.Value) -> None:
    """Makes what makes `buffer` write to `target`, which all its uses then name."""
    maker = _maker(buffer)
    if maker.name == "hir.call":
        taken = defining_op(buffer)
        assert taken is not None
        add_call_destination(maker, result_index(taken), target)
        replace_buffer(buffer, target)
        taken.erase()
    elif maker.name == "hir.allocate":
        if "zero_init" in maker.attributes:
            _fill_with_zeros(maker, target)
        replace_buffer(buffer, target)
        maker.erase()
    else:
        replace_buffer(buffer, target)
        _compute_into(maker, target)


def _compute_into(op: ir.Operation, target: ir.Value) -> None:
    """Gives `op` the destination; one it reads as it writes is an error."""
    if op.name in ("hir.reduce", "hir.matmul", "hir.linear"):
        parent = op
        while parent.name != "hir.program":
            assert parent.parent is not None
            parent = parent.parent
        owners = Owners(parent)
        read = [operand for operand in op.operands if owners.roots(operand) & owners.roots(target)]
        if read:
            fail(
                op,
                f"{op.name} reads an operand more than once, and its result is an alias of that "
                "operand's memory: only elementwise operations work in place",
            )
    write_to(op, target)


def _fill_with_zeros(allocation: ir.Operation, target: ir.Value) -> None:
    element = ir.MemRefType(target.type).element_type
    with ir.InsertionPoint(allocation), allocation.location:
        scalar = element if isinstance(element, ir.FloatType) else ir.IntegerType.get_signless(64)
        zero: ir.Attribute = (
            ir.FloatAttr.get(scalar, 0.0)
            if isinstance(element, ir.FloatType)
            else ir.IntegerAttr.get(scalar, 0)
        )
        value = arith.constant(scalar, zero)
        ir.Operation.create("hir.set", operands=[value, target])
