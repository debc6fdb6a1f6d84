"""Every operation that programs are written in is within reach of the builder."""

from __future__ import annotations

import hirc
from hirc.dialects import hir
from hirc.dialects.hir.builder import Program
from support.built_program import operations

# What compiling puts in the place of linalg's operations, and of launches.
_OF_PASSES = {
    "hir.find_loops",
    "hir.has_library",
    "hir.launcher",
    "hir.library_convolution",
    "hir.library_matmul",
    "hir.matrix_element",
    "hir.reduce_loops",
    "hir.run_launcher",
    "hir.scan_loop",
    "hir.scatter",
}


def everything() -> Program:
    m = hirc.module()
    with m.program("double") as double:
        double.output("y", double.input("x", ("n",), "f32") * 2)
    kernels = m.gpu_module("gpu.module @kernels { gpu.func @k() kernel { gpu.return } }")
    kernel = m.kernel("k", kernels["k"], block=(32,))
    with m.program("main") as p:
        x = p.input("x", (8,), "f32")
        w = p.input("w", (8, 8), "f32")
        p.launch(kernel, grid=1)
        p.host_call("show", x)
        y = p.call(double, x)
        y[2:4] = p.where(x > 0, x, 0.0).expand(8, 8).permute(1, 0)[0].reshape(4, 2).relu()[0]
        p.alias((w @ w).sum(0), y)
        z = p.reuse(p.linear(w, w), (8,), "f32")
        z.deallocate()
        p.allocate((8,), "f32").deallocate()
        with p.loop(4) as i, p.stream(i) as stream:
            stream.wait(stream.record())
            stream.wait(stream)
        with p.loop(4) as i:
            p.stop_loop(i == 2)
        p.synchronize()
        with p.branch(True) as branch, branch.then:
            pass
        team = p.communicator([0, 1])
        x[p.rank(team)].relu()
        with p.branch(p.shares_memory(team)) as branch, branch.then:
            pass
        with p.coalesce() as group:
            p.communicate("allreduce", x, x, team, reduction="sum")
        group.wait()
        shared = p.allocate((8,), "f32", memory="symmetric", team=team)
        p.put(x, shared, 1, signal=True).wait()
        p.wait_signal(shared, 1)
        p.barrier(shared)
        p.get(shared, x, 1).wait()
        p.reshard(x, "axis:0", "whole", [0, 1])
        p.output("y", y)
    return p


def test_every_operation() -> None:
    dialect = {getattr(each, "OPERATION_NAME", "") for each in vars(hir).values()} - {"", "hir."}
    assert len(dialect) > 30
    assert dialect - _OF_PASSES == dialect & {op.name for op in operations(everything())}
