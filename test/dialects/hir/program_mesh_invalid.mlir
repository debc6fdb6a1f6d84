// RUN: hirc-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'mesh' is the sizes of its axes, as array<i64: 2, 4>; it is array<i64: 0>}}
"hir.program"() ({
^bb0:
}) {sym_name = "main", mesh = array<i64: 0>, function_type = () -> ()} : () -> ()

// -----

// expected-error @below {{'mesh' array<i64: 9223372036854775807> has 9223372036854775807 devices, and at most 65536 make one}}
"hir.program"() ({
^bb0:
}) {sym_name = "main", mesh = array<i64: 9223372036854775807>, function_type = () -> ()} : () -> ()

// -----

// expected-error @below {{'spread' of input 0 is how it is divided over a 'mesh', which the program has not}}
"hir.program"() ({
^bb0(%x: memref<8xf32>):
}) {sym_name = "main", inputs = [{name = "x", spread = ["axis:0"]}],
    function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

// expected-error @below {{'spread' of input 0 is ["axis:0", "axis:0"]: 4 devices do not divide 6 elements evenly, as several axes of the mesh have to; divide it by one, or leave it whole}}
"hir.program"() ({
^bb0(%x: memref<6xf32>):
}) {sym_name = "main", mesh = array<i64: 2, 2>, inputs = [{name = "x", spread = ["axis:0", "axis:0"]}],
    function_type = (memref<6xf32>) -> ()} : () -> ()

// -----

// expected-error @below {{'spread' of input 0 is ["partial:sum"]: what a program is given and gives is divided or whole}}
"hir.program"() ({
^bb0(%x: memref<8xf32>):
}) {sym_name = "main", mesh = array<i64: 2>, inputs = [{name = "x", spread = ["partial:sum"]}],
    function_type = (memref<8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  // expected-error @below {{'spread' is ["axis:1"]: the buffer has 1 dims, numbered from 0}}
  "hir.output"(%x) {spread = ["axis:1"]} : (memref<8xf32>) -> ()
}) {sym_name = "main", mesh = array<i64: 2>, function_type = (memref<8xf32>) -> memref<8xf32>} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{hir.communicator is for programs that say themselves what each device does; what a program over a mesh communicates follows from its spreads}}
  %team = "hir.communicator"() {team = array<i64: 0, 1>} : () -> !hir.communicator_t
}) {sym_name = "main", mesh = array<i64: 2>, function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8xf32>):
  // expected-error @below {{'spread' is for outputs, and for results of compute operations}}
  %y = "hir.permute"(%x) {order = array<i64: 0>, spread = ["whole"]} : (memref<8xf32>) -> memref<8xf32>
}) {sym_name = "main", mesh = array<i64: 2>, function_type = (memref<8xf32>) -> ()} : () -> ()
