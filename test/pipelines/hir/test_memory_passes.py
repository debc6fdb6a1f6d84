"""The memory passes on random programs: same results, all freed, and the peak that was told."""

from __future__ import annotations

from random import Random

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hirc.compiler.interpreter import Interpreter
from hirc.dialects.mlir import ir
from hirc.pipelines.hir.memory.peak_memory import PeakMemory, peak_memory
from hirc.pipelines.pipeline import parse_pipeline, run_steps
from support.host_ir import parsed
from support.random_program import ProgramWriter
from support.stream_trace import StreamTrace

PASSES = (
    "hir-insert-allocations,hir-insert-deallocations,hir-verify-ownership",
    "hir-reuse-buffers,hir-verify-ownership",
)


def inputs(condition: bool) -> list[object]:
    return [torch.arange(4, dtype=torch.float32), -torch.arange(8, dtype=torch.float32), condition]


def peak_of_main(module: ir.Module) -> PeakMemory:
    return peak_memory(next(iter(module.body)).operation)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), condition=st.booleans())
def test_passes_free_all_and_keep_the_meaning(seed: int, condition: bool) -> None:
    writer = ProgramWriter(Random(seed))
    text = writer.text()
    expected = Interpreter(parsed(text)).run(inputs(condition))
    module = parsed(text)
    previous: int | None = None
    for step in PASSES:
        run_steps(module.operation, parse_pipeline(step))
        runner = Interpreter(module, check_leaks=True)
        results = runner.run(inputs(condition))
        for result, wanted in zip(results, expected, strict=True):
            torch.testing.assert_close(result, wanted, rtol=0, atol=0, equal_nan=True)
        counts = runner.counts
        held = sum(result.nbytes for result in {id(each): each for each in results}.values())
        assert counts.live_bytes == held
        assert counts.allocations == counts.deallocations + len(results)
        trace = StreamTrace(condition)
        trace.run(next(iter(module.body)).operation.regions[0].blocks[0])
        peak = peak_of_main(module).bytes
        assert peak is not None
        assert peak == counts.peak_bytes or (writer.has_branch and peak > counts.peak_bytes)
        assert previous is None or peak <= previous
        previous = peak
