"""lower-host-branches: scf.if and scf.for of host functions become branches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from ...dialects.mlir import arith, cf, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, register

# Attributes of scf.for that are lowered here; upstream's lowering knows of others.
_KNOWN = {"operandSegmentSizes", "unsignedCmp"}


@register
@dataclass(frozen=True)
class LowerHostBranches(Pass):
    """Lowers scf.if and scf.for of functions, those within them too.

    convert-scf-to-cf does the same, in time and memory that grow with the square of a block's
    length: for each operation it moves the rest of the block. Here the last comes first. What lies
    in other operations with regions is left to it.

      scf.if %c {
        call @f() : () -> ()
      }
      call @g() : () -> ()
    becomes
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      call @f() : () -> ()
      cf.br ^bb2
    ^bb2:
      call @g() : () -> ()
    """

    name: ClassVar[str] = "lower-host-branches"
    makes: ClassVar[tuple[str, ...]] = ("cf.", "arith.")

    def run(self, op: ir.Operation) -> None:
        for child in op.regions[0].blocks[0]:
            if child.operation.name == "func.func":
                waiting = list(child.operation.regions[0].blocks)
                while waiting:
                    waiting += _lower_block(waiting.pop())


def _lower_block(block: ir.Block) -> list[ir.Block]:
    """Lowers what stands in a block; returns the blocks that its regions became."""
    operations = [op.operation for op in block]
    found: list[ir.Block] = []
    rest: list[ir.Operation] = []
    for op in reversed(operations):
        if op.name == "scf.if" or _is_plain_loop(op):
            after = block.create_after(*op.results.types)
            _move(reversed(rest), after)
            with op.location:
                lower = _lower_if if op.name == "scf.if" else _lower_loop
                inner, branch = lower(block, op, after)
            op.erase()
            found += inner
            rest = [branch]
        else:
            rest.append(op)
    return found


def _is_plain_loop(op: ir.Operation) -> bool:
    return op.name == "scf.for" and all(name in _KNOWN for name in op.attributes)


def _lower_if(
    block: ir.Block, op: ir.Operation, after: ir.Block
) -> tuple[list[ir.Block], ir.Operation]:
    """Ends `block` with the branch; returns the new blocks too."""
    regions = [region for region in op.regions if len(region.blocks) > 0]
    # Each goes right after `block`, so the last is made first.
    *others, then = [_body(block, region.blocks[0], after) for region in reversed(regions)]
    for result, argument in zip(op.results, after.arguments, strict=True):
        result.replace_all_uses_with(argument)
    with ir.InsertionPoint(block):
        branch = cf.CondBranchOp(op.operands[0], [], [], then, *(others or [after]))
    return [then, *others], branch.operation


def _lower_loop(
    block: ir.Block, op: ir.Operation, after: ir.Block
) -> tuple[list[ir.Block], ir.Operation]:
    """Returns the same of a loop: `block` goes to the block that compares the index
    with the end.
    """
    start, stop, step, *carried = op.operands
    inside = op.regions[0].blocks[0]
    head = block.create_after(start.type, *(value.type for value in carried))
    values = list(head.arguments)
    for old, new in zip(inside.arguments, values, strict=True):
        old.replace_all_uses_with(new)
    for old, new in zip(op.results, values[1:], strict=True):
        old.replace_all_uses_with(new)
    for _ in op.results:
        after.erase_argument(0)
    body = _body(head, inside, head, lambda: [arith.addi(values[0], step)])
    is_unsigned = "unsignedCmp" in op.attributes
    below = arith.CmpIPredicate.ult if is_unsigned else arith.CmpIPredicate.slt
    with ir.InsertionPoint(head):
        more = arith.cmpi(below, values[0], stop)
        cf.CondBranchOp(more, [], [], body, after)
    with ir.InsertionPoint(block):
        branch = cf.BranchOp([start, *carried], head)
    return [body], branch.operation


def _body(
    before: ir.Block,
    inside: ir.Block,
    after: ir.Block,
    first: Callable[[], list[ir.Value]] = list,
) -> ir.Block:
    """Returns a block after `before` with the operations of a region's; it goes on to `after`.

    `after` takes what `first` emits, and what the region yields.
    """
    body = before.create_after()
    operations = [each.operation for each in inside]
    _move(operations, body)
    end = operations[-1]
    with end.location, ir.InsertionPoint(end):
        cf.BranchOp([*first(), *end.operands], after)
    end.erase()
    return body


def _move(operations: Iterable[ir.Operation], to: ir.Block) -> None:
    for op in operations:
        to.append(op)
