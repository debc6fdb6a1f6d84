"""What must hold when a program has ended: its outputs are there, and nothing leaked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects.mlir import ir
from . import fault
from .buffer import Buffer
from .frame import Frame, is_written
from .memory import Allocation, Owner
from .outline import Outline
from .shapes import static_sizes, text_of


def check_results(outline: Outline, frame: Frame, results: Sequence[Any]) -> None:
    """Fails where an output is freed, not written, or not what was declared or handed in."""
    for number, (op, value) in enumerate(zip(outline.outputs, results, strict=True)):
        if not isinstance(value, Buffer):
            continue
        what = f"output '{outline.output_names[number]}'"
        if value.allocation.ended:
            fault.fail(op, f"{what}: {value.allocation.ended}; the caller owns an output's memory")
        declared = static_sizes(outline.output_types[number])
        if any(
            size not in (None, actual) for size, actual in zip(declared, value.sizes, strict=True)
        ):
            fault.fail(
                op, f"{what}: expected {text_of(declared)}, as declared, got {text_of(value.sizes)}"
            )
        given = frame.given.get(number)
        if given is not None and not given.is_same_view(value):
            fault.fail(
                op,
                f"{what}: the buffer that was handed in is not the one that the program gives "
                f"({value.name})",
                hint="the program must write this output with a destination, or allocate it "
                "once on the way to hir.output",
            )
        if not is_written(value):
            fault.fail(
                op,
                f"{what}: nothing was written to some of its elements ({value.name})",
                hint="write them (hir.set), or allocate with zero_init",
            )


def check_end(
    outline: Outline,
    allocations: Sequence[Allocation],
    results: Sequence[Any],
    check_leaks: bool | None,
) -> None:
    """Fails where memory that the program allocated is neither freed nor an output.

    Without a decision, `check_leaks` None, only what the program frees on some path.
    """
    outputs = [value.allocation for value in results if isinstance(value, Buffer)]
    for allocation in allocations:
        if allocation.ended or allocation.owner is not Owner.PROGRAM or allocation in outputs:
            continue
        site = allocation.site
        assert isinstance(site, ir.Value)
        if check_leaks or (check_leaks is None and site in outline.freed):
            owner = site.owner
            assert not isinstance(owner, ir.Block)
            fault.fail(
                owner,
                f"{allocation.name} leaks: the program ends, and it is neither freed nor an output",
                hint="hir.deallocate frees it; hir-insert-deallocations adds that on every path",
            )
