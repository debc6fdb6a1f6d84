// RUN: hirc-opt %s --split-input-file --verify-diagnostics

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{hir.reshard has a destination or a result, and not both}}
  "hir.reshard"(%x) {from = "axis:0", to = "whole", from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{hir.reshard has a destination or a result, and not both}}
  %y = "hir.reshard"(%x, %x) {from = "axis:0", to = "whole", from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>, memref<4x8xf32>) -> memref<8x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: f32):
  // expected-error @below {{the operand of hir.reshard is a buffer; f32 is no memref}}
  %y = "hir.reshard"(%x) {from = "axis:0", to = "whole", from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (f32) -> memref<8x8xf32>
}) {sym_name = "main", function_type = (f32) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{hir.reshard 'to_team' is the numbers of the devices, each once, as array<i64: 0, 1>; it is array<i64: 1, 1>}}
  %y = "hir.reshard"(%x) {from = "axis:0", to = "whole", from_team = array<i64: 0, 1>, to_team = array<i64: 1, 1>} : (memref<4x8xf32>) -> memref<8x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{hir.reshard changes neither element type nor number of dims: memref<4x8xf32> to memref<8x8xf16>}}
  %y = "hir.reshard"(%x) {from = "axis:0", to = "whole", from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<8x8xf16>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{hir.reshard has 'to', a string: whole, partial:KIND or axis:N}}
  %y = "hir.reshard"(%x) {from = "axis:0", from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<8x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{'from' is 'rows': a spread is whole, partial:KIND or axis:N}}
  %y = "hir.reshard"(%x) {from = "rows", to = "whole", from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<8x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{'from' is 'axis:2': the buffer has 2 dims, numbered from 0}}
  %y = "hir.reshard"(%x) {from = "axis:2", to = "whole", from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<8x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{'from' is 'partial:mean': parts are combined by one of sum, prod, min, max, avg, not 'mean'}}
  %y = "hir.reshard"(%x) {from = "partial:mean", to = "whole", from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<8x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  // expected-error @below {{hir.reshard makes no parts to be combined, and moves none to other devices: 'to' is "partial:sum"}}
  %y = "hir.reshard"(%x) {from = "partial:sum", to = "partial:sum", from_team = array<i64: 0, 1>, to_team = array<i64: 2, 3>} : (memref<8x8xf32>) -> memref<8x8xf32>
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{hir.reshard makes no parts to be combined, and moves none to other devices: 'to' is "partial:sum"}}
  %y = "hir.reshard"(%x) {from = "whole", to = "partial:sum", from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<8x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{dim 0 has 8 elements over all devices before hir.reshard (memref<4x8xf32>, 'axis:0' over 2), but 4 after it (memref<4x8xf32>, 'whole' over 2)}}
  %y = "hir.reshard"(%x) {from = "axis:0", to = "whole", from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<4x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{hir.reshard 'mesh' array<i64: 2, 2> has 4 devices, and the team 2}}
  %y = "hir.reshard"(%x) {from = ["axis:0", "whole"], to = ["whole", "whole"], mesh = array<i64: 2, 2>,
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<8x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{'from' is ["axis:0"]: over a mesh of 2 axes there is a list of 2 spreads, one an axis}}
  %y = "hir.reshard"(%x) {from = ["axis:0"], to = ["whole", "whole"], mesh = array<i64: 2, 1>,
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<8x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{'from' is ["partial:sum", "partial:max"]: the parts along all axes are combined by one reduction}}
  %y = "hir.reshard"(%x) {from = ["partial:sum", "partial:max"], to = ["whole", "whole"], mesh = array<i64: 2, 1>,
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<4x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{hir.reshard makes no parts to be combined: along axis 1 of the mesh 'to' is 'partial:sum' and 'from' 'whole'}}
  %y = "hir.reshard"(%x) {from = ["whole", "whole"], to = ["whole", "partial:sum"], mesh = array<i64: 2, 1>,
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<4x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  // expected-error @below {{dim 0 has 8 elements over all devices before hir.reshard (memref<4x8xf32>), but 6 after it (memref<6x8xf32>)}}
  %y = "hir.reshard"(%x) {from = ["axis:0", "whole"], to = ["whole", "whole"], mesh = array<i64: 2, 1>,
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<4x8xf32>) -> memref<6x8xf32>
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()
