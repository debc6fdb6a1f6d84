// inputs: 1000xf32=@random:1
// Two streams side by side, joined by an event and by a wait.
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %left = "hir.stream"() {name = "left"} : () -> !hir.stream_t
  %right = "hir.stream"() {name = "right"} : () -> !hir.stream_t
  "hir.wait_stream"(%left, %here) : (!hir.stream_t, !hir.stream_t) -> ()
  %start = "hir.record"() : () -> !hir.event_t
  "hir.wait_event"(%start, %right) : (!hir.event_t, !hir.stream_t) -> ()
  "hir.set_stream"(%left) : (!hir.stream_t) -> ()
  %a = "hir.unary"(%x) {kind = "exp"} : (memref<?xf32>) -> memref<?xf32>
  "hir.set_stream"(%right) : (!hir.stream_t) -> ()
  %b = "hir.unary"(%x) {kind = "cos"} : (memref<?xf32>) -> memref<?xf32>
  %done = "hir.record"() : () -> !hir.event_t
  "hir.set_stream"(%here) : (!hir.stream_t) -> ()
  "hir.wait_stream"(%here, %left) : (!hir.stream_t, !hir.stream_t) -> ()
  "hir.wait_event"(%done) : (!hir.event_t) -> ()
  %y = "hir.binary"(%a, %b) {kind = "sub"} : (memref<?xf32>, memref<?xf32>) -> memref<?xf32>
  "hir.synchronize"() : () -> ()
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "main", inputs = [{name = "x"}],
    function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()
