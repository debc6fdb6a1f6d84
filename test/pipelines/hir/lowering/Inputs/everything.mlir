// A program that does everything but compute: test_lowering_runs.py says what it gives.

gpu.module @kernels {
  gpu.func @scale(%x: memref<?x?xf32, strided<[?, ?], offset: ?>>, %y: memref<?x?xf32, strided<[?,?], offset: ?>>, %n: index, %m: index) kernel {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %in = arith.cmpi ult, %t, %m : index
    scf.if %in {
      %v = memref.load %x[%b, %t] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %two = arith.constant 2.0 : f32
      %w = arith.mulf %v, %two : f32
      %o = memref.load %y[%b, %t] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %z = arith.addf %w, %o : f32
      memref.store %z, %y[%b, %t] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    }
    gpu.return
  }
}
"hir.kernel"() {sym_name = "scale", function = @kernels::@scale} : () -> ()
"hir.program"() ({
^bb0(%x: memref<?x?xf32, strided<[?, ?], offset: ?>>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  %m = memref.dim %x, %c1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  %y = "hir.allocate"(%n, %m) {output = 0 : i64, zero_init} : (index, index) -> memref<?x?xf32, strided<[?, ?], offset: ?>>
  "hir.launch"(%n, %c1, %c1, %c256, %c1, %c1, %c0) ({
    "hir.argument"(%x) : (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
    "hir.argument"(%y) : (memref<?x?xf32, strided<[?,?], offset: ?>>) -> ()
    "hir.argument"(%n) : (index) -> ()
    "hir.argument"(%m) : (index) -> ()
  }) {kernel = @scale} : (index, index, index, index, index, index, index) -> ()
  "hir.output"(%y) {name = "y"} : (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
}) {sym_name = "inner", function_type = (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> (memref<?x?xf32>)} : () -> ()
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %flag: i1, %u: ui8):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %xt = "hir.permute"(%x) {order = array<i64: 1, 0>} : (memref<?x?xf32>) -> memref<?x?xf32, strided<[1, ?]>>
  %side = "hir.stream"() {name = "side"} : () -> !hir.stream_t
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %ev = "hir.record"() : () -> !hir.event_t
  "hir.wait_event"(%ev, %side) : (!hir.event_t, !hir.stream_t) -> ()
  "hir.set_stream"(%side) : (!hir.stream_t) -> ()
  %r = "hir.call"() ({
    "hir.argument"(%xt) : (memref<?x?xf32, strided<[1, ?]>>) -> ()
  }) {callee = @inner} : () -> !hir.results_t
  %y = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> memref<?x?xf32, strided<[?, ?], offset: ?>>
  %t = "hir.allocate"(%n, %m) {order = array<i64: 1, 0>} : (index, index) -> memref<?x?xf32, strided<[1, ?]>>
  %tt = "hir.permute"(%t) {order = array<i64: 1, 0>} : (memref<?x?xf32, strided<[1, ?]>>) -> memref<?x?xf32, strided<[?, 1]>>
  %r2 = "hir.call"() ({
    "hir.argument"(%y) : (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
    "hir.argument"(%tt) {destination = 0 : i64} : (memref<?x?xf32, strided<[?, 1]>>) -> ()
  }) {callee = @inner} : () -> !hir.results_t
  "hir.for"(%c0, %n, %c1) ({
  ^bb0(%i: index):
    %row = "hir.select"(%t, %i) {axis = 0 : i64} : (memref<?x?xf32, strided<[1, ?]>>, index) -> memref<?xf32, strided<[?], offset: ?>>
    %part = "hir.slice"(%row, %c0, %m) {axis = 0 : i64, step = 2 : i64} : (memref<?xf32, strided<[?], offset: ?>>, index, index) -> memref<?xf32, strided<[?], offset: ?>>
    %h = "hir.host_call"() ({
      "hir.argument"(%part) : (memref<?xf32, strided<[?], offset: ?>>) -> ()
      "hir.argument"(%u) : (ui8) -> ()
      "hir.argument"(%i) : (index) -> ()
    }) {callee = @show, result_types = [i8]} : () -> !hir.results_t
    %hv = "hir.result"(%h) {index = 0 : i64} : (!hir.results_t) -> i8
    %last = arith.cmpi eq, %i, %m : index
    "hir.stop_loop"(%last) : (i1) -> ()
  }) : (index, index, index) -> ()
  "hir.wait_stream"(%here, %side) : (!hir.stream_t, !hir.stream_t) -> ()
  "hir.set_stream"(%here) : (!hir.stream_t) -> ()
  %ri = "hir.if"(%flag) ({
    %p = "hir.allocate"(%n) {memory = "pinned"} : (index) -> memref<?xf32>
    "hir.output"(%p) : (memref<?xf32>) -> ()
  }, {
    %p = "hir.allocate"(%m) {memory = "pinned"} : (index) -> memref<?xf32>
    "hir.output"(%p) : (memref<?xf32>) -> ()
  }) : (i1) -> !hir.results_t
  %q = "hir.result"(%ri) {index = 0 : i64} : (!hir.results_t) -> memref<?xf32>
  %qn = memref.dim %q, %c0 : memref<?xf32>
  "hir.deallocate"(%q) : (memref<?xf32>) -> ()
  %nm = arith.muli %n, %m : index
  %flat = "hir.reshape"(%tt, %nm) : (memref<?x?xf32, strided<[?, 1]>>, index) -> memref<?xf32, strided<[?]>>
  "hir.synchronize"() : () -> ()
  "hir.deallocate"(%t) : (memref<?x?xf32, strided<[1, ?]>>) -> ()
  "hir.output"(%y) {name = "y"} : (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
  "hir.output"(%qn) {name = "count"} : (index) -> ()
}) {sym_name = "main", inputs = [{name = "x", sizes = ["n", "m"]}, {name = "flag"}, {name = "u"}],
    function_type = (memref<?x?xf32>, i1, ui8) -> (memref<?x?xf32>, index)} : () -> ()
