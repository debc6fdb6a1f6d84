"""The memory that the kernels of a program's operations need beside its buffers."""

from __future__ import annotations

from ....dialects.mlir import ir
from ...walking import operations_where
from .formula import Formula, maximum
from .peak_memory import PeakMemory
from .size_formulas import SizeFormulas

# Marks the hir.allocates that schedules add; each is freed in its own block.
SCRATCH = "hirc.scratch"


def scratch_memory(program: ir.Operation) -> PeakMemory | None:
    """The most that one operation of a scheduled hir.program holds; None where none needs any.

    It comes on top of what the program holds at that place.
    """
    sizes = SizeFormulas()
    peaks: list[Formula] = []
    live: dict[ir.Value, Formula] = {}
    for op in operations_where(program, lambda _: True):
        if op.name == "hir.allocate" and SCRATCH in op.attributes:
            live[op.results[0]] = sizes.bytes_of(op)
            peaks.append(sum(live.values(), Formula()))
        elif op.name == "hir.deallocate":
            live.pop(op.operands[0], None)
    if not peaks:
        return None
    most = maximum(peaks)
    texts = sorted(map(str, most))
    text = texts[0] if len(texts) == 1 else f"max({', '.join(texts)})"
    return PeakMemory(most[0].known if len(most) == 1 else None, text)
