"""Kernels, C functions, and calls of other programs of the module."""

from __future__ import annotations

import pytest

import hirc
from hirc.dialects.hir import builder
from support.built_program import last, operations

KERNELS = """
gpu.module @kernels {
  gpu.func @scale(%x: memref<?xf32>, %factor: f32, %n: index) kernel { gpu.return }
  gpu.func @helper() { gpu.return }
}
"""


def test_a_launch() -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n",), "f32")
        n = p.size("n")
        scale = p.gpu_module(KERNELS)["scale"]
        p.launch(scale, x, 2, n, grid=n.ceildiv(256), block=256)
    lines = [line.strip() for line in str(p).splitlines()]
    start = lines.index("%0 = arith.ceildivsi %dim, %c256 : index")
    assert lines[start + 1 : start + 6] == [
        '"hir.launch"(%0, %c1, %c1, %c256, %c1, %c1, %c0) ({',
        '"hir.argument"(%x) : (memref<?xf32>) -> ()',
        '"hir.argument"(%cst) : (f32) -> ()',
        '"hir.argument"(%dim) : (index) -> ()',
        "}) {kernel = @kernels::@scale} : (index, index, index, index, index, index, index) -> ()",
    ]
    assert str(p).startswith("module attributes {gpu.container_module} {")


def test_a_kernel_states_what_its_launches_share() -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n",), "f32")
        function = p.gpu_module(KERNELS)["scale"]
        scale = p.kernel("scale", function, (32, 4), 512, (1, 1, 1), writes=[0])
        p.launch(scale, x, p.scalar("f", "f32"), 8, grid=(8, 2), stream=p.stream("side"))
        p.launch(scale, x, 0.5, 8, grid=1, block=(32, 4), shared_bytes=512, cluster=(1, 1, 1))
    assert last(p, "hir.kernel") == (
        '"hir.kernel"() {block = array<i64: 32, 4, 1>, cluster = array<i64: 1, 1, 1>, '
        "function = @kernels::@scale, shared_bytes = 512 : i64, "
        'sym_name = "scale", writes = array<i64: 0>} : () -> ()'
    )
    launches = [op for op in operations(p) if op.name == "hir.launch"]
    assert [len(op.operands) for op in launches] == [8, 7]
    assert "cluster" in launches[1].attributes


def test_a_host_call() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (8,), "f32")
        assert p.host_call("show", x) is None
        count = p.host_call("count", x, p.constant(0.5, "f32"), 3, result="index")
        x[0:count] = 0.0
    assert "callee = @count, result_types = [index]" in last(p, "hir.host_call")


def layer_module() -> tuple[builder.Module, builder.Program]:
    m = hirc.module()
    with m.program("layer") as layer:
        n = layer.size("n")
        x = layer.input("x", (n, "k"), "f32")
        w = layer.input("w", (16, "k"), "f32")
        layer.output("y", layer.linear(x, w))
        layer.output("part", x[0 : n // 2])
        layer.output("count", n * 2)
    return m, layer


def test_a_call() -> None:
    m, layer = layer_module()
    with m.program("main") as p:
        x = p.input("x", ("rows", 8), "f32")
        w = p.input("w", (16, 8), "f32", strides="any")
        rows = p.size("rows")
        y, part, _ = p.call(layer, x, w)
        assert y.shape == (rows, 16)
        assert part.shape == (rows // 2, 8)
        out = p.allocate((rows, 16), "f32", order=(1, 0))
        again, _, count = p.call(layer, x, w, out={0: out})
        assert again is out
        p.output("y", y + again)
        p.output("count", count)
    assert p.text == layer.text == m.text
    names = [op.name for op in operations(p)]
    assert names.count("hir.result") == 5
    assert names.count("memref.dim") == 2, "the layer's and main's"
    assert "{destination = 0 : i64}" in last(p, "hir.argument")


def test_one_output_comes_as_it_is() -> None:
    m = hirc.module()
    with m.program("double") as double:
        double.output(None, double.input("x", ("n",), "f32") * 2)
    with m.program("main") as p:
        x = p.input("x", (8,), "f32")
        p.output("y", p.call(double, p.call(double, x)))
    assert [op.name for op in operations(p)].count("hir.call") == 2


def test_calls_are_of_programs_that_are_there() -> None:
    m, layer = layer_module()
    other = hirc.module()
    with m.program("main") as p:
        x = p.input("x", (8, 8), "f32")
        with pytest.raises(hirc.BuildError, match=r"takes 2 inputs \(x, w\), not 1"):
            p.call(layer, x)
        with pytest.raises(hirc.BuildError, match="but it is open"):
            p.call(p, x)
    with other.program("main") as q, pytest.raises(hirc.BuildError, match="another module"):
        q.call(layer, q.input("x", (8, 8), "f32"), q.input("w", (16, 8), "f32"))
