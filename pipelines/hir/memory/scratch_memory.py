"""The memory that the kernels of a program's operations need beside its buffers."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir.region_arguments import arguments_of
from ....dialects.hir.symbols import lookup
from ....dialects.mlir import ir
from ...walking import operations_where
from .formula import Formula, maximum
from .peak_memory import PeakMemory
from .size_formulas import SizeFormulas

# Marks the hir.allocates that schedules add; each is freed in its own block.
SCRATCH = "hirc.scratch"


def scratch_memory(program: ir.Operation) -> PeakMemory | None:
    """Returns the most that one operation of a scheduled hir.program holds; None where none needs
    any.

    It comes on top of what the program holds at that place.
    """
    peaks = [peak for each in scratch_of_runs(program).values() for peak in each]
    if not peaks:
        return None
    most = maximum(peaks)
    texts = sorted(map(str, most))
    text = texts[0] if len(texts) == 1 else f"max({', '.join(texts)})"
    return PeakMemory(most[0].known if len(most) == 1 else None, text)


def scratch_of_runs(program: ir.Operation) -> dict[ir.Operation, list[Formula]]:
    """Returns the scratch memory that each hir.run_launcher holds, at its several times."""
    held: dict[ir.Operation, list[Formula]] = {}
    sizes = SizeFormulas()
    launchers: dict[str, ir.Operation | None] = {}
    for run in operations_where(program, lambda op: op.name == "hir.run_launcher"):
        name = ir.FlatSymbolRefAttr(run.attributes["launcher"]).value
        if name not in launchers:
            found = lookup(run.opview, [name])
            launchers[name] = found if found is not None and _allocates(found) else None
        launcher = launchers[name]
        if launcher is not None:
            given = [each.operands[0] for each in arguments_of(run.regions[0])]
            held[run] = _peaks(launcher, given, sizes)
    return held


def _allocates(launcher: ir.Operation) -> bool:
    return bool(operations_where(launcher, lambda op: op.name == "hir.allocate"))


def _peaks(
    launcher: ir.Operation, given: Sequence[ir.Value], outside: SizeFormulas
) -> list[Formula]:
    """Returns what is held after each allocation of a launcher that is run with those values."""
    sizes = SizeFormulas()
    for argument, value in zip(launcher.regions[0].blocks[0].arguments, given, strict=True):
        if isinstance(argument.type, ir.IndexType):
            sizes.define(argument, outside.index(value))
    peaks: list[Formula] = []
    live: dict[ir.Value, Formula] = {}
    for op in operations_where(launcher, lambda _: True):
        if op.name == "hir.allocate" and SCRATCH in op.attributes:
            live[op.results[0]] = sizes.bytes_of(op)
            peaks.append(sum(live.values(), Formula()))
        elif op.name == "hir.deallocate":
            live.pop(op.operands[0], None)
    return peaks
