"""Blocks of a bounded length, so that generating code takes time in proportion to a program.

LLVM's instruction selection takes the instructions of a block together, and more than twice the
time over twice as many. A host program of a thousand outputs has blocks that fill in all of them.
"""

from __future__ import annotations

from ..dialects import llvm
from ..dialects.mlir import ir

# Operations of a block: enough for whatever is worth looking at together.
_LONGEST = 200


def shorten_blocks(module: ir.Operation) -> None:
    """Splits the long blocks of the LLVM dialect's functions, where nothing is lost by it.

    An optimiser that takes such a function at all makes one block of them again.
    """
    for op in module.regions[0].blocks[0]:
        if op.operation.name == "llvm.func":
            for number, block in enumerate(list(op.operation.regions[0].blocks)):
                _split(block, is_entry=number == 0)


def _split(block: ir.Block, *, is_entry: bool) -> None:
    operations = [op.operation for op in block.operations]
    allocations = [place for place, op in enumerate(operations) if op.name == "llvm.alloca"]
    # What the first block allocates has its place in the frame; elsewhere the stack grows.
    start = allocations[-1] + 1 if is_entry and allocations else 0
    end = len(operations)
    for begin in reversed(range(start + _LONGEST, end - _LONGEST // 2, _LONGEST)):
        # What is left in the block are the operations before `end`.
        following = block.create_after()
        for op in operations[begin:end]:
            following.append(op)
        with ir.InsertionPoint(block), operations[begin].location:
            # With that it ends, and those before it are to be moved with it.
            operations.insert(begin, llvm.branch(following))
        end = begin + 1
