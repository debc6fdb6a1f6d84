"""Programs as device graphs, which the CPU device records and replays as a GPU does."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hirc
from hirc.compiler.errors import InputError

_PROGRAMS = """
"hir.program"() ({
^bb0(%x: memref<?x8xf32>, %w: memref<8x8xf32>):
  %a = "hir.unary"(%x) {kind = "neg"} : (memref<?x8xf32>) -> memref<?x8xf32>
  %r = "hir.reduce"(%a) {kind = "sum", axes = array<i64: 0>} : (memref<?x8xf32>) -> memref<8xf32>
  %p = "hir.matmul"(%a, %w) : (memref<?x8xf32>, memref<8x8xf32>) -> memref<?x8xf32>
  %y = "hir.binary"(%p, %r) {kind = "add"} : (memref<?x8xf32>, memref<8xf32>) -> memref<?x8xf32>
  "hir.output"(%y) {name = "y"} : (memref<?x8xf32>) -> ()
}) {sym_name = "several", inputs = [{name = "x", sizes = ["n", 8]}, {name = "w"}],
    function_type = (memref<?x8xf32>, memref<8x8xf32>) -> memref<?x8xf32>} : () -> ()
func.func @recurrent(%x: tensor<5x2x4xf32> {hir.name = "x"},
                     %h: tensor<3x2x4xf32> {hir.name = "h"})
    -> (tensor<5x2x4xf32> {hir.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %first = tensor.extract_slice %h[1, 0, 0] [1, 2, 4] [1, 1, 1]
      : tensor<3x2x4xf32> to tensor<1x2x4xf32>
  %start = tensor.collapse_shape %first [[0, 1], [2]] : tensor<1x2x4xf32> into tensor<2x4xf32>
  %empty = tensor.empty() : tensor<5x2x4xf32>
  %all:2 = scf.for %t = %c0 to %c5 step %c1 iter_args(%state = %start, %y = %empty)
      -> (tensor<2x4xf32>, tensor<5x2x4xf32>) {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, 2, 4] [1, 1, 1]
        : tensor<5x2x4xf32> to tensor<2x4xf32>
    %room = tensor.empty() : tensor<2x4xf32>
    %next = linalg.add ins(%xt, %state : tensor<2x4xf32>, tensor<2x4xf32>)
        outs(%room : tensor<2x4xf32>) -> tensor<2x4xf32>
    %more = tensor.insert_slice %next into %y[%t, 0, 0] [1, 2, 4] [1, 1, 1]
        : tensor<2x4xf32> into tensor<5x2x4xf32>
    scf.yield %next, %more : tensor<2x4xf32>, tensor<5x2x4xf32>
  }
  return %all#1 : tensor<5x2x4xf32>
}
func.func @multiplied(%x: tensor<?x64xf16> {hir.name = "x"},
                      %w: tensor<64x128xf16> {hir.name = "w"})
    -> (tensor<?x128xf32> {hir.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%n) : tensor<?x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x128xf32>) -> tensor<?x128xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x64xf16>, tensor<64x128xf16>)
      outs(%start : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}
func.func @counted(%x: tensor<4xf32> {hir.name = "x"},
                   %kept: tensor<4xf32> {hirc.state = "kept", hirc.zero_init})
    -> (tensor<4xf32> {hir.name = "y"}, tensor<4xf32> {hirc.updates = 1}) {
  %empty = tensor.empty() : tensor<4xf32>
  %new = linalg.add ins(%x, %kept : tensor<4xf32>, tensor<4xf32>)
      outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.exp ins(%new : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %y, %new : tensor<4xf32>, tensor<4xf32>
}
"""


# Adds x * k to y so many times. Its first lines make y.
_LOOP = """
"hir.program"() ({
^bb0(%x: memref<?xf32>, %times: index, %k: f32):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = memref.dim %x, %zero : memref<?xf32>
FIRST  "hir.for"(%zero, %times, %one) ({
  ^bb0(%i: index):
    %t = "hir.binary"(%x, %k) {kind = "mul"} : (memref<?xf32>, f32) -> memref<?xf32>
    "hir.binary"(%y, %t, %y) {kind = "add"}
        : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
  }) : (index, index, index) -> ()
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "NAME", inputs = [{name = "x"}, {name = "times"}, {name = "k"}],
    function_type = (memref<?xf32>, index, f32) -> memref<?xf32>} : () -> ()
"""


def _loop(name: str, first: str) -> str:
    return _LOOP.replace("FIRST", first).replace("NAME", name)


_LOOPS = _loop(
    "looped",
    """\
  %y = "hir.allocate"(%n) {zero_init, output = 0 : i64} : (index) -> memref<?xf32>
""",
) + _loop(
    "repeated",
    """\
  %y = "hir.allocate"(%n) {output = 0 : i64} : (index) -> memref<?xf32>
  "hir.binary"(%x, %k, %y) {kind = "mul"} : (memref<?xf32>, f32, memref<?xf32>) -> ()
""",
)


class Graphs:
    """The library, and how often its graphs were recorded, replayed, changed and left."""

    def __init__(self, path: Path) -> None:
        self.library: Any = hirc.load(path)

    def counts(self) -> tuple[int, int, int, int]:
        recorded, replayed, updated, abandoned, _ = self._counts()
        return recorded, replayed, updated, abandoned

    def repeated(self) -> int:
        """How many replays were the last one's again, so that no step was computed."""
        return self._counts()[-1]

    def _counts(self) -> tuple[int, int, int, int, int]:
        room = (ctypes.c_int64 * 5)()
        self.library.loaded.hirc_graph_counts(room)
        return tuple(room)


def _build(folder: Path, text: str, *others: str) -> Path:
    from hirc.tools.hirc import main as run_hirc

    source, output = folder / "graphs.mlir", folder / "libgraphs.so"
    source.write_text(text)
    words = [str(source), *others, "-o", str(output), "--emit=shared", "--offload-arch=cpu"]
    assert run_hirc([*words, "--graph=always", "--products=own"]) == 0
    return output


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("graphs"), _PROGRAMS + _LOOPS)


@pytest.fixture
def graphs(path: Path) -> Iterator[Graphs]:
    yield Graphs(path)
    # The next test begins without graphs.
    gc.collect()


_W = np.arange(64, dtype=np.float32).reshape(8, 8) / 8


def _several(graphs: Graphs, count: int) -> np.ndarray:
    x = np.random.default_rng(count).random((count, 8), np.float32)
    y = graphs.library.several(x, _W)
    np.testing.assert_allclose(y, -x @ _W - x.sum(0), rtol=1e-5, atol=1e-5)
    return y


def test_shapes_that_come_again_are_replayed(graphs: Graphs) -> None:
    for _ in range(12):
        for count in (5, 9):
            _several(graphs, count)
    recorded, replayed, _, _ = graphs.counts()
    assert recorded == 2
    assert replayed >= 14


def test_outputs_of_replays_are_the_caller_s(graphs: Graphs) -> None:
    kept = [_several(graphs, 6) for _ in range(12)]
    for y in kept:
        np.testing.assert_array_equal(y, kept[0])
    _, replayed, updated, _ = graphs.counts()
    assert replayed >= 6
    assert updated >= 6  # each has memory of its own


def test_tensor_maps_are_those_of_each_call(graphs: Graphs) -> None:
    """A product by warpgroups, whose tensor maps hold the tensors' addresses."""
    random = np.random.default_rng(0)
    kept: list[np.ndarray] = []  # so that each call has tensors elsewhere
    for _ in range(8):
        x = random.random((192, 64), np.float32).astype(np.float16)
        w = random.random((64, 128), np.float32).astype(np.float16)
        y = graphs.library.multiplied(x, w)
        np.testing.assert_allclose(y, x.astype(np.float32) @ w.astype(np.float32), rtol=1e-5)
        kept += [x, w, y]
    recorded, replayed, updated, _ = graphs.counts()
    assert recorded == 1
    assert replayed >= 4
    assert updated >= 4


def test_shapes_that_never_come_again_share_a_graph(graphs: Graphs) -> None:
    for count in np.random.default_rng(1).permutation(np.arange(1, 90)):
        _several(graphs, int(count))
    recorded, replayed, updated, abandoned = graphs.counts()
    # Memory of the program's own is kept with room to spare: few shapes need a larger one.
    assert 1 <= recorded <= 4
    assert replayed >= 60
    assert updated >= replayed
    assert abandoned <= 6


def test_shapes_that_share_a_graph_keep_their_own_beside(graphs: Graphs) -> None:
    random = np.random.default_rng(2)
    for i in range(60):
        _several(graphs, 4)
        _several(graphs, 100 + i + int(random.integers(3)) * 100)
    recorded, replayed, _, _ = graphs.counts()
    assert 2 <= recorded <= 5
    assert replayed >= 90


def test_few_calls_of_many_shapes_record_nothing(graphs: Graphs) -> None:
    for count in range(1, 17):
        _several(graphs, count)
    assert graphs.counts() == (0, 0, 0, 0)


def test_shapes_of_which_each_is_another_program_stop_sharing(graphs: Graphs) -> None:
    """The number of launches is part of each call; what is tried in vain ends."""

    def call_often(first: int) -> None:
        for i in range(first, first + 60):
            x = np.arange(1 + i, dtype=np.float32)
            np.testing.assert_allclose(
                graphs.library.looped(x, i % 37, 0.5), 0.5 * (i % 37) * x, rtol=1e-6
            )

    call_often(2)
    recorded, _, _, abandoned = graphs.counts()
    assert recorded <= 10
    assert abandoned <= 40
    call_often(100)
    assert graphs.counts()[0] == recorded
    assert graphs.counts()[3] == abandoned


def test_few_other_calls_leave_a_shared_graph(graphs: Graphs) -> None:
    def call_often(count: int, times: int, first: int) -> int:
        before = graphs.counts()[1]
        for i in range(first, first + count):
            x = np.arange(i, dtype=np.float32)
            y = graphs.library.repeated(x, times, 0.5)
            np.testing.assert_allclose(y, 0.5 * (times + 1) * x, rtol=1e-6)
        return graphs.counts()[1] - before

    call_often(100, 3, 1000)
    for other in range(4, 10):
        call_often(1, other, 2000 + other)
    assert call_often(100, 3, 3000) >= 90


def test_memory_that_shapes_share_grows_with_them(graphs: Graphs) -> None:
    for count in range(1000, 1100):
        _several(graphs, 8 * count)
    recorded, replayed, _, _ = graphs.counts()
    assert recorded <= 8
    assert replayed >= 70
    # What fitted before still does, and sizes in turn do not undo each other's.
    for count in range(100):
        _several(graphs, 9001 + count if count % 2 else 1 + count)
    assert graphs.counts()[0] <= recorded + 4
    assert graphs.counts()[1] >= replayed + 80


def test_as_many_shapes_as_are_kept_in_turn(graphs: Graphs) -> None:
    for _ in range(8):
        for count in range(1, 29):
            _several(graphs, count)
    recorded, replayed, _, _ = graphs.counts()
    # Few of them are not counted while others come, and share a graph.
    assert 20 <= recorded <= 32
    assert replayed >= 4 * recorded


def test_more_shapes_than_are_kept_in_turn(graphs: Graphs) -> None:
    for _ in range(8):
        for count in range(1, 41):
            _several(graphs, count)
    recorded, replayed, _, _ = graphs.counts()
    # They push each other out; that ends after a while.
    assert recorded <= 60
    for _ in range(20):
        _several(graphs, 3)
    assert graphs.counts()[1] > replayed


# Of a program's graphs on one device.
_LIMIT = 20_000


def _limited(folder: Path, code: str = "") -> Path:
    """An object file with the limit, and with C code."""
    source, output = folder / "limit.c", folder / "limit.o"
    limit = f"#include <stddef.h>\nsize_t hirc_state_graph_memory_1 = {_LIMIT};\n"
    source.write_text(limit + code)
    subprocess.run(["clang-22", "-fPIC", "-c", source, "-o", output], check=True, timeout=60)
    return output


def test_graphs_keep_no_more_memory_than_they_may(tmp_path: Path) -> None:
    """Those that were not used for longest go. Each keeps an array of its size here."""
    graphs = Graphs(_build(tmp_path, _LOOPS, str(_limited(tmp_path))))

    def records(count: int, calls: int = 4) -> int:
        before = graphs.counts()[0]
        x = np.arange(count, dtype=np.float32)
        for _ in range(calls):
            np.testing.assert_allclose(graphs.library.looped(x, 3, 0.5), 1.5 * x, rtol=1e-6)
        return graphs.counts()[0] - before

    assert [records(1000), records(2000), records(1500)] == [1, 1, 1]
    # All of them together are within the limit.
    assert [records(1000), records(2000), records(1500), records(1000)] == [0, 0, 0, 0]
    assert records(1900) == 1
    # What was used last stays, the one before that is made anew.
    assert records(1000) == 0
    assert records(2000) == 1
    # One that keeps more than all may is alone.
    assert records(6000) == 1
    assert records(6000) == 0
    assert records(1000) == 1


_STREAMS = """
#include <stdint.h>
#define EXPORT __attribute__((visibility("default")))
struct tensor { // DLTensor
  void *data;
  int32_t device, device_number, rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *sizes, *strides;
  uint64_t byte_offset;
};
int hirc_program_looped(const struct tensor *const *inputs, struct tensor *const *outputs,
                        void *stream);
int cudaStreamCreateWithFlags(void **stream, unsigned flags);
int cudaStreamDestroy(void *stream);
int cudaStreamSynchronize(void *stream);
int cudaDeviceSynchronize(void);
EXPORT int waits;
EXPORT void *open_stream(void) {
  void *stream = NULL;
  cudaStreamCreateWithFlags(&stream, 1);
  return stream;
}
EXPORT void close_stream(void *stream) { cudaStreamDestroy(stream); }
EXPORT int call(int64_t size, float *x, float *y, void *stream) {
  int64_t times = 3, size_of_y = size, one = 1;
  float k = 0.5f;
  struct tensor inputs[] = {{x, 1, 0, 1, 2, 32, 1, &size},
                            {&times, 1, 0, 0, 0, 64, 1},
                            {&k, 1, 0, 0, 2, 32, 1}};
  struct tensor output = {y, 1, 0, 1, 2, 32, 1, &size_of_y, &one}, *outputs[] = {&output};
  const struct tensor *given[] = {&inputs[0], &inputs[1], &inputs[2]};
  int status = hirc_program_looped(given, outputs, stream);
  return status ? status : cudaStreamSynchronize(stream);
}
int counted_cudaDeviceSynchronize(void) {
  ++waits;
  return cudaDeviceSynchronize();
}
"""


def test_another_stream_of_the_same_handle_is_another_one(tmp_path: Path) -> None:
    """A graph's memory goes in the stream of its calls, else once the device is done."""
    from hirc.tools.hirc import main as run_hirc

    source, code, output = (tmp_path / f"streams.{suffix}" for suffix in ("mlir", "ll", "so"))
    source.write_text(_LOOPS)
    words = ["--offload-arch=cpu", "--graph=always"]
    assert run_hirc([str(source), "-o", str(code), "--emit=llvm", *words]) == 0
    code.write_text(
        code.read_text().replace("@cudaDeviceSynchronize", "@counted_cudaDeviceSynchronize")
    )
    limited = str(_limited(tmp_path, _STREAMS))
    assert run_hirc([str(code), limited, "-o", str(output), "--emit=shared", *words]) == 0
    graphs = Graphs(output)
    functions = graphs.library.loaded.functions
    functions.open_stream.restype = ctypes.c_void_p
    functions.close_stream.argtypes = [ctypes.c_void_p]
    functions.call.argtypes = [ctypes.c_int64, *[ctypes.c_void_p] * 3]
    waits = ctypes.c_int.in_dll(functions, "waits")
    stream = functions.open_stream()

    def call_often(count: int) -> int:
        before = waits.value
        x = np.arange(count, dtype=np.float32)
        y = np.zeros_like(x)
        for _ in range(4):
            assert functions.call(count, x.ctypes.data, y.ctypes.data, stream) == 0
            np.testing.assert_allclose(y, 1.5 * x, rtol=1e-6)
        return waits.value - before

    # The second one's graph takes the place of the first one's.
    assert [call_often(4000), call_often(5000)] == [0, 0]
    functions.close_stream(stream)
    # Among the next ones is one where this one was.
    assert stream in [functions.open_stream() for _ in range(8)]
    assert call_often(4000) == 1
    assert graphs.counts()[0] == 3


def test_shapes_that_stay_get_graphs_after_many_that_did_not(graphs: Graphs) -> None:
    for _ in range(8):
        for count in range(1, 41):
            _several(graphs, count)
    before = graphs.counts()[0]
    staying = [np.full((count, 8), 0.5, np.float32) for count in range(50, 56)]
    outs = [np.empty_like(x) for x in staying]

    def call_often(times: int) -> tuple[int, int]:
        recorded, _, updated, _ = graphs.counts()
        for _ in range(times):
            for x, out in zip(staying, outs, strict=True):
                graphs.library.several(x, _W, out=out)
        for x, out in zip(staying, outs, strict=True):
            np.testing.assert_allclose(out, -x @ _W - x.sum(0), rtol=1e-5)
        return graphs.counts()[0] - recorded, graphs.counts()[2] - updated

    # They share graphs first, which are changed from one to the other.
    recorded, updated = call_often(20)
    assert recorded <= 4
    assert updated > 20
    call_often(400)
    assert graphs.counts()[0] >= before + len(staying)
    assert call_often(20) == (0, 0)


# Four blocks of `threads` threads.
_FOUR_BLOCKS = """
gpu.module @kernels {
  gpu.func @add_one(%x: memref<?xf32>, %y: memref<?xf32>) kernel {
    %zero = arith.constant 0 : index
    %number = arith.constant 1.0 : f32
    %n = memref.dim %x, %zero : memref<?xf32>
    %i = gpu.global_id x
    %inside = arith.cmpi ult, %i, %n : index
    scf.if %inside {
      %v = memref.load %x[%i] : memref<?xf32>
      %w = arith.addf %v, %number : f32
      memref.store %w, %y[%i] : memref<?xf32>
    }
    gpu.return
  }
}
"hir.program"() ({
^bb0(%x: memref<?xf32>, %threads: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %y = "hir.allocate"(%n) {output = 0 : i64} : (index) -> memref<?xf32>
  "hir.launch"(%four, %one, %one, %threads, %one, %one, %zero) ({
    "hir.argument"(%x) : (memref<?xf32>) -> ()
    "hir.argument"(%y) : (memref<?xf32>) -> ()
  }) {kernel = @kernels::@add_one, overlaps}
      : (index, index, index, index, index, index, index) -> ()
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "together", inputs = [{name = "x"}, {name = "threads"}],
    function_type = (memref<?xf32>, index) -> memref<?xf32>} : () -> ()
"""


@pytest.mark.parametrize("kind", ["hir.overlaps", "cooperative"])
def test_larger_blocks_of_cooperative_launches_are_recorded_anew(tmp_path: Path, kind: str) -> None:
    """Whether all of them can be there at once is found out when they are launched."""
    from hirc.tools.hirc import main as run_hirc

    source, lowered = tmp_path / "four.mlir", tmp_path / "lowered.mlir"
    source.write_text(_FOUR_BLOCKS)
    words = [str(source), "-o", str(lowered), "--emit=shared", "--stop-after=programs"]
    assert run_hirc([*words, "--offload-arch=cpu", "--graph=always"]) == 0
    # Host IR has no word for it.
    graphs = Graphs(_build(tmp_path, lowered.read_text().replace("hir.overlaps", kind)))
    x = np.arange(64, dtype=np.float32)
    out = np.empty_like(x)
    for threads in (16, 32, 64):
        for _ in range(4):
            graphs.library.together(x, threads, out=out)
            np.testing.assert_array_equal(out, x + 1)
    recorded, replayed, updated, abandoned = graphs.counts()
    if kind == "cooperative":
        assert recorded == 3
        assert updated == 0
        assert abandoned >= 2
    else:
        assert (recorded, replayed, updated, abandoned) == (1, 9, 2, 0)


def test_scalars_and_loops_are_computed_in_each_call(graphs: Graphs) -> None:
    x = np.arange(10, dtype=np.float32)
    for i in range(8):
        for factor in (2.0, 3.0):
            y = graphs.library.looped(x, 3, factor + i)
            np.testing.assert_allclose(y, 3 * (factor + i) * x, rtol=1e-6)
    _, replayed, updated, _ = graphs.counts()
    assert replayed >= 6
    assert updated >= 6
    # Another number of launches is another program, of which nothing of the first has run.
    for times in (5, 5, 1, 3, 0, 0, 3, 2, 7, 3, 3, 3, 3):
        np.testing.assert_allclose(graphs.library.looped(x, times, 0.5), 0.5 * times * x)


def test_steps_whose_tensors_change_dims(graphs: Graphs) -> None:
    """Recurrent layers: the state begins as a slice of all layers' states, in fewer dims."""
    h = np.arange(24, dtype=np.float32).reshape(3, 2, 4)
    for i in range(6):
        x = np.full((5, 2, 4), i, np.float32)
        y = graphs.library.recurrent(x, h)
        np.testing.assert_array_equal(y, h[1] + x.cumsum(0))
    assert graphs.counts()[:2] == (1, 3)


def test_state_goes_on(graphs: Graphs) -> None:
    one, two = graphs.library, graphs.library.new_instance()
    x = np.full(4, 0.125, np.float32)
    for i in range(1, 9):
        np.testing.assert_allclose(one.counted(x), np.exp(i * x), rtol=1e-5)
    for i in range(1, 4):
        np.testing.assert_allclose(two.counted(x), np.exp(i * x), rtol=1e-5)
    np.testing.assert_allclose(one.counted(x), np.exp(9 * x), rtol=1e-5)
    assert graphs.counts()[1] > 4


@pytest.mark.parametrize("calls", range(5))
def test_first_values_of_a_state_are_no_part_of_a_graph(graphs: Graphs, calls: int) -> None:
    """An instance is new in a call without a graph, in the one that records it, or in a replay."""
    x = np.full(4, 0.125, np.float32)
    for i in range(1, calls + 1):
        np.testing.assert_allclose(graphs.library.counted(x), np.exp(i * x), rtol=1e-5)
    for _ in range(3):
        new = graphs.library.new_instance()
        for i in range(1, 4):
            np.testing.assert_allclose(new.counted(x), np.exp(i * x), rtol=1e-5)
        del new
    for i in range(calls + 1, calls + 4):
        np.testing.assert_allclose(graphs.library.counted(x), np.exp(i * x), rtol=1e-5)


def test_wrong_tensors_are_refused_in_a_replay(graphs: Graphs) -> None:
    for _ in range(8):
        _several(graphs, 4)
        with pytest.raises(InputError, match="input 'w' of several"):
            graphs.library.several(np.ones((4, 8), np.float32), np.ones((8, 4), np.float32))
    assert graphs.counts()[1] >= 4


def test_outputs_handed_in(graphs: Graphs) -> None:
    outs = [np.empty((7, 8), np.float32) for _ in range(3)]
    x = np.ones((7, 8), np.float32)
    for i in range(12):
        graphs.library.several(x * i, _W, out=outs[i % 3])
        np.testing.assert_allclose(outs[i % 3], -i * (x @ _W) - 7 * i, rtol=1e-5)
    assert graphs.counts()[1] >= 6


def test_threads(graphs: Graphs) -> None:
    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            for _ in range(20):
                _several(graphs, number % 4 + 2)
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def _looped(graphs: Graphs, x: np.ndarray, times: int, k: float, out: np.ndarray) -> None:
    out.fill(np.nan)
    graphs.library.looped(x, times, k, out=out)
    np.testing.assert_allclose(out, times * np.float32(k) * x, rtol=1e-6)


def test_calls_that_repeat_compute_no_step(graphs: Graphs) -> None:
    """What lies in the tensors may be another each time."""
    x, out = np.empty(24, np.float32), np.empty(24, np.float32)
    for call in range(12):
        x[:] = np.arange(24) + call
        _looped(graphs, x, 3, 0.5, out)
    recorded, replayed, updated, abandoned = graphs.counts()
    assert (recorded, updated, abandoned) == (1, 0, 0)
    assert replayed >= 9
    assert graphs.repeated() == replayed


@pytest.mark.parametrize("other", ["number", "times", "input", "output", "allocated"])
def test_calls_that_differ_compute_their_steps(graphs: Graphs, other: str) -> None:
    """In turn with one that has been, so that what is known of the last call counts."""
    first = np.arange(24, dtype=np.float32)
    second, kept = first[::-1].copy(), np.empty_like(first)
    out = np.empty_like(first)
    for call in range(24):
        is_other = call % 3 == 2
        x = second if is_other and other == "input" else first
        times = 4 if is_other and other == "times" else 3
        k = 0.25 if is_other and other == "number" else 0.5
        if is_other and other == "allocated":
            y = graphs.library.looped(x, times, k)
            np.testing.assert_allclose(y, 1.5 * x, rtol=1e-6)
            continue
        _looped(graphs, x, times, k, kept if is_other and other == "output" else out)
    # The second of two that are alike.
    assert graphs.repeated() >= 5


def test_sizes_and_strides_are_part_of_what_repeats(graphs: Graphs) -> None:
    memory = np.random.default_rng(3).random((8, 8), np.float32)
    out = np.empty((8, 8), np.float32)
    for _ in range(8):
        for count in (8, 8, 4, 4):
            x, y = memory[:count], out[:count]
            y.fill(np.nan)
            graphs.library.several(x, _W, out=y)
            np.testing.assert_allclose(y, -x @ _W - x.sum(0), rtol=1e-5, atol=1e-5)
        for y in (out.T, out, out.T, out.T):
            y.fill(np.nan)
            graphs.library.several(memory, _W, out=y)
            np.testing.assert_allclose(y, -memory @ _W - memory.sum(0), rtol=1e-5, atol=1e-5)
    assert graphs.repeated() >= 12


def test_state_is_part_of_what_repeats(graphs: Graphs) -> None:
    x, out = np.full(4, 0.25, np.float32), np.empty(4, np.float32)
    instances = [graphs.library.new_instance() for _ in range(2)]
    calls = [0, 0]
    for call in range(30):
        which = int(call % 5 > 2)
        calls[which] += 1
        instances[which].counted(x, out=out)
        np.testing.assert_allclose(out, np.exp(np.float32(0.25 * calls[which])), rtol=1e-6)
    assert graphs.repeated() >= 10


def test_another_instance_in_the_place_of_one_that_went(graphs: Graphs) -> None:
    x, out = np.full(4, 0.25, np.float32), np.empty(4, np.float32)
    for _ in range(8):
        instance = graphs.library.new_instance()
        for call in range(1, 6):
            instance.counted(x, out=out)
            np.testing.assert_allclose(out, np.exp(np.float32(0.25 * call)), rtol=1e-6)
        del instance
        gc.collect()
    assert graphs.repeated() >= 8
