"""What a program's graph says of its steps, their order, and its memory."""

from __future__ import annotations

from hirc.compiler.options import Convolutions, Emit, Options
from hirc.compiler.source import STDIN_NAME, Source
from hirc.compiler.target import Target
from hirc.compiler.timing import Timer
from hirc.compiler.unit import Unit
from hirc.pipelines.program_graph.graph import GraphProgram

_LOOP = """\
"hir.program"() ({
^bb0(%x: memref<?xf32>, %n: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.cmpi sgt, %n, %c1 : index
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
  "hir.for"(%c0, %n, %c1) ({
  ^bb0(%i: index):
    %none = "hir.if"(%many) ({
      %t = "hir.unary"(%y) {kind = "sin"} : (memref<?xf32>) -> memref<?xf32>
      "hir.binary"(%y, %t, %y) {kind = "add"} : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
    }, {
    ^bb0:
    }) : (i1) -> !hir.results_t
  }) : (index, index, index) -> ()
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "main", inputs = [{name = "x", sizes = ["n"]}, {name = "steps"}],
    function_type = (memref<?xf32>, index) -> memref<?xf32>} : () -> ()
"""
_FUNCTION = """\
func.func @f(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<8x16xf32>
  %exp = linalg.exp ins(%x : tensor<8x16xf32>) outs(%wide : tensor<8x16xf32>) -> tensor<8x16xf32>
  %thin = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%thin : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<8x16xf32>)
      outs(%init : tensor<8xf32>) dimensions = [1]
  return %sum : tensor<8xf32>
}
"""
_STREAMS = """\
"hir.program"() ({
^bb0(%x: memref<4xf32>):
  %home = "hir.current_stream"() : () -> !hir.stream_t
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  "hir.wait_stream"(%side, %home) : (!hir.stream_t, !hir.stream_t) -> ()
  "hir.set_stream"(%side) : (!hir.stream_t) -> ()
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<4xf32>) -> memref<4xf32>
  "hir.set_stream"(%home) : (!hir.stream_t) -> ()
  "hir.wait_stream"(%home, %side) : (!hir.stream_t, !hir.stream_t) -> ()
  %z = "hir.unary"(%y) {kind = "abs"} : (memref<4xf32>) -> memref<4xf32>
  "hir.output"(%z) {name = "z"} : (memref<4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4xf32>) -> memref<4xf32>} : () -> ()
"""
_GPU = """\
func.func @main(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 32 : index
  %value = arith.constant 1.0 : f32
  %host = memref.alloc() : memref<32xf32>
  %device = gpu.alloc () : memref<32xf32>
  gpu.memcpy %device, %host : memref<32xf32>, memref<32xf32>
  scf.for %i = %zero to %n step %one {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %many, %sy = %one, %sz = %one) {
      %old = memref.load %device[%tx] : memref<32xf32>
      %new = arith.addf %old, %value : f32
      memref.store %new, %device[%tx] : memref<32xf32>
      gpu.terminator
    }
  }
  gpu.memcpy %host, %device : memref<32xf32>, memref<32xf32>
  gpu.dealloc %device : memref<32xf32>
  %first = memref.load %host[%zero] : memref<32xf32>
  vector.print %first : f32
  memref.dealloc %host : memref<32xf32>
  return
}
"""
_SUM = """\
#id = affine_map<(i) -> (i)>
"hir.program"() ({
^bb0(%x: memref<4xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<4xf32>) -> memref<4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  }
  "hir.output"(%y) {name = "y"} : (memref<4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4xf32>) -> memref<4xf32>} : () -> ()
"""
_GLOBAL = """\
memref.global @table : memref<4xi32> = dense<1>
func.func @main() {
  %first = memref.get_global @table : memref<4xi32>
  %host = memref.alloc() : memref<4xi32>
  gpu.memcpy %first, %host : memref<4xi32>, memref<4xi32>
  %again = memref.get_global @table : memref<4xi32>
  gpu.memcpy %host, %again : memref<4xi32>, memref<4xi32>
  return
}
"""


_LIBRARY = """\
func.func @f(%x: tensor<8x4x16xf32>, %w: tensor<6x4x3xf32>, %b: tensor<8x6x14xf32>)
    -> tensor<8x6x14xf32> {
  %y = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<8x4x16xf32>, tensor<6x4x3xf32>)
                              outs(%b : tensor<8x6x14xf32>) -> tensor<8x6x14xf32>
  return %y : tensor<8x6x14xf32>
}
"""


def graph_of(text: str, convolutions: Convolutions = Convolutions.AUTO) -> GraphProgram:
    source = Source(STDIN_NAME, text.encode())
    targets = (Target.parse("sm_90"),)
    options = Options((STDIN_NAME,), emit=Emit.GRAPH, targets=targets, convolutions=convolutions)
    (program,) = Unit(source, options, Timer()).graph()
    return program


def names(program: GraphProgram, buffers: list[int]) -> list[str]:
    return [program.buffers[each].name for each in buffers]


def test_a_loop_with_a_branch() -> None:
    program = graph_of(_LOOP)
    assert program.name == "main"
    assert [(s.kind, s.name, s.place, s.parent, s.part) for s in program.steps] == [
        ("kernel", "negf", "<stdin>:6", -1, ""),
        ("loop", "for", "<stdin>:7", -1, ""),
        ("branch", "if", "<stdin>:9", 1, "body"),
        ("kernel", "sin", "<stdin>:10", 2, "then"),
        ("kernel", "addf", "<stdin>:11", 2, "then"),
    ]
    assert program.steps[1].notes == ["from 0 to steps by 1"]
    assert [(names(program, s.reads), names(program, s.writes)) for s in program.steps] == [
        (["x"], ["y"]),
        ([], []),
        ([], []),
        (["y"], ["buffer 2"]),
        (["y", "buffer 2"], ["y"]),
    ]
    # What an iteration reads the one before it may have written, or none if it is the first.
    assert [step.after for step in program.steps] == [[], [], [], [0, 4], [0, 3, 4]]
    assert program.sizes == ["n"]
    bytes_of_x = ["*", 4, ["size", 0]]
    assert [(b.kind, b.name, b.type, b.bytes, b.begin, b.end) for b in program.buffers] == [
        ("input", "x", "n f32", bytes_of_x, 0, 4),
        ("output", "y", "n f32", bytes_of_x, 0, 4),
        ("buffer", "buffer 2", "n f32", bytes_of_x, 3, 4),
    ]
    twice = ["*", 8, ["size", 0]]
    assert [step.held for step in program.steps] == [
        [bytes_of_x],
        [twice],
        [twice],
        [twice],
        [twice],
    ]


def test_a_fused_kernel_has_the_lines_of_its_operations() -> None:
    (kernel,) = graph_of(_FUNCTION).steps
    lines = dict(kernel.work)
    assert lines["<stdin>:4"] == ["math.exp"]
    assert "hir.reduce_loops addf" in lines["<stdin>:7"]
    assert kernel.kernels
    assert all(each.threads is not None for each in kernel.kernels)
    assert kernel.held == [32]


def test_a_call_of_a_library() -> None:
    program = graph_of(_LIBRARY, Convolutions.LIBRARY)
    assert [(s.kind, s.name, s.place) for s in program.steps] == [
        ("library", "cuDNN convolution", "<stdin>:3"),
        ("kernel", "addf", "<stdin>:3"),
    ]
    assert [(names(program, s.reads), names(program, s.writes)) for s in program.steps] == [
        (["input0", "input1"], ["output0"]),
        (["input2", "output0"], ["output0"]),
    ]


def test_streams() -> None:
    steps = graph_of(_STREAMS).steps
    assert [(step.name, step.stream) for step in steps] == [
        ("wait_stream", "side"),
        ("negf", "side"),
        ("wait_stream", "caller's"),
        ("absf", "caller's"),
    ]
    assert [steps[0].notes, steps[2].notes] == [
        ["waits for stream: caller's"],
        ["waits for stream: side"],
    ]
    assert steps[3].after == [1]


def test_a_gpu_program() -> None:
    program = graph_of(_GPU)
    assert [(s.kind, s.name, s.place, s.parent, s.after) for s in program.steps] == [
        ("copy", "memcpy", "<stdin>:8", -1, []),
        ("loop", "for", "<stdin>:9", -1, []),
        ("kernel", "launch", "<stdin>:10", 1, [0, 2]),
        ("copy", "memcpy", "<stdin>:18", -1, [0, 2]),
        ("host", "load", "<stdin>:20", -1, [3]),
        ("call", "print", "<stdin>:21", -1, []),
    ]
    launch = program.steps[2]
    assert launch.work[1] == ("<stdin>:13", ["arith.addf"])
    assert launch.kernels[0].threads == [32, 1, 1]
    assert [(b.bytes, b.begin, b.end) for b in program.buffers] == [(128, 0, 5), (128, 0, 3)]
    assert [step.held for step in program.steps] == [[256], [256], [256], [256], [128], [128]]


def test_what_accumulates_reads_its_result() -> None:
    assert [(step.name, step.after) for step in graph_of(_SUM).steps] == [
        ("negf", []),
        ("addf", [0]),
    ]


def test_a_global_is_one_buffer() -> None:
    program = graph_of(_GLOBAL)
    assert [(b.kind, b.name) for b in program.buffers] == [
        ("global", "table"),
        ("buffer", "buffer 1"),
    ]
    assert program.steps[1].after == [0]
