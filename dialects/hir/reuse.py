"""`hir.reuse`: a fresh buffer in another's memory."""

from collections.abc import Sequence
from typing import Any

from ..mlir import ext, ir
from .allocate import AllocateOp, check_allocation
from .dialect import Hir
from .domain import static_plan
from .domain_steps import Domain, read_domain
from .layout import DYNAMIC, is_packed, product
from .verify import OperationError, buffer, element_of, operands_of, result_of, verified


class ReuseOp(Hir.Operation, name="reuse"):
    """A fresh buffer in the memory of `storage`, whose own life ends here.

    The memory is now the result's, and is freed with it. Attributes as of hir.allocate, without
    `memory` and `output`. The result's bytes are at most those of the storage.

    Example:
      %z = "hir.reuse"(%y, %n) : (memref<?xf32>, index) -> memref<?xi32>
    """

    storage: ext.Operand[Any]
    sizes: Sequence[ext.Operand[ir.IndexType]]
    buffer: ext.Result[Any]

    @staticmethod
    def verify_invariants(op: "ReuseOp") -> bool:
        return verified(op, _check)


def _check(op: ReuseOp) -> None:
    storage, *sizes = operands_of(op, 1, None)
    held = buffer(storage, "the storage")
    domain = check_allocation(op, sizes)
    for name in ("memory", "output"):
        if name in op.attributes:
            raise OperationError(f"it has no {name}: it lies where the storage lies")
    result = buffer(result_of(op), "the result")
    wanted = product([static_plan(domain).elements, element_of(result).bytes])
    there = product([_elements(storage, held), element_of(held).bytes])
    if DYNAMIC not in (wanted, there) and wanted > there:
        raise OperationError(f"{result} takes {wanted} bytes, the storage {held} has {there}")


def _elements(storage: ir.Value, held: ir.MemRefType) -> int:
    """Returns how many elements the storage's memory holds, DYNAMIC where that is not known."""
    owner = storage.owner
    if isinstance(owner, ir.Block):
        return product(held.shape) if is_packed(held) else DYNAMIC
    if isinstance(owner.opview, AllocateOp | ReuseOp):
        allocated: Domain = read_domain(owner, held.shape)
        return static_plan(allocated).elements
    return product(held.shape) if is_packed(held) else DYNAMIC
