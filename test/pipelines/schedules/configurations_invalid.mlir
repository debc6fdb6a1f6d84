// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p 'hir-schedule-kernels{chips=sm_90a}'

"hir.program"() ({
^bb0(%x: memref<64xf32>, %y: memref<64xf32>):
  // expected-error @below {{hir.configuration: it is a dictionary, as {family = "pointwise", threads = 128}; without it the compiler chooses}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) attrs = {hir.configuration = 4 : i64} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<64xf32>, memref<64xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<64xf32>, %y: memref<64xf32>):
  // expected-error @below {{hir.configuration: it names no family; the families are}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) attrs = {hir.configuration = {threads = 128}} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<64xf32>, memref<64xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<64xf32>, %y: memref<64xf32>):
  // expected-error @below {{hir.configuration: there is no family 'pointwize'; the families are}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) attrs = {hir.configuration = {family = "pointwize"}} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<64xf32>, memref<64xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<64xf32>, %y: memref<64xf32>):
  // expected-error @below {{hir.configuration: 'pointwise' has no 'warps', but kernel, width, unroll, threads, pieces, layout;}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) attrs = {hir.configuration = {family = "pointwise", warps = 4}} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<64xf32>, memref<64xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<64xf32>, %y: memref<64xf32>):
  // expected-error @below {{hir.configuration: 'width' takes a whole number, as 4 or 4 : i64}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) attrs = {hir.configuration = {family = "pointwise", width = true}} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<64xf32>, memref<64xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<64xf32>, %y: memref<64xf32>):
  // expected-error @below {{hir.configuration: 'width' takes a number, true or false, or a word in quotes}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) attrs = {hir.configuration = {family = "pointwise", width = 4.0}} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<64xf32>, memref<64xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<64xf32>, %y: memref<64xf32>):
  // expected-error @below {{hir.configuration: 'kernel' is one of rows, flat, single}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) attrs = {hir.configuration = {family = "pointwise", kernel = "row"}} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<64xf32>, memref<64xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<64xf32>, %y: memref<64xf32>):
  // expected-error @below {{hir.configuration: 'kernel' is flat or single where everything is one row}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) attrs = {hir.configuration = {family = "pointwise", kernel = "rows"}} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<64xf32>, memref<64xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<64xf32>, %y: memref<64xf32>):
  // expected-error @below {{hir.configuration: 'width' is a power of two from 2 on where 'kernel' is flat}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) attrs = {hir.configuration = {family = "pointwise", width = 3}} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<64xf32>, memref<64xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<64xf32>, %y: memref<64xf32>):
  // expected-error @below {{hir.configuration: 'threads' is a multiple of 32 up to 1024}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) attrs = {hir.configuration = {family = "pointwise", threads = 100}} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<64xf32>, memref<64xf32>) -> ()} : () -> ()

// -----

// What is known only once conditions are put together: rows begin at odd places.

"hir.program"() ({
^bb0(%x: memref<8x8xf32, strided<[9, 1]>>, %y: memref<8x8xf32>):
  // expected-error @below {{hir.configuration: what is known of sizes, strides and offsets never allows it}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x8xf32, strided<[9, 1]>>) outs(%y : memref<8x8xf32>)
      attrs = {hir.configuration = {family = "pointwise", kernel = "rows", width = 4}} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
}) {sym_name = "main", function_type = (memref<8x8xf32, strided<[9, 1]>>, memref<8x8xf32>) -> ()} : () -> ()

// -----

// An operation of another family, and one that the general schedules alone take.

"hir.program"() ({
^bb0(%x: memref<4x8xf32>, %y: memref<4xf32>):
  // expected-error @below {{hir.configuration: the operation, with what is fused with it, is not of 'pointwise'}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) attrs = {hir.configuration = {family = "pointwise"}} {
  ^bb0(%a: f32, %b: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
}) {sym_name = "main", function_type = (memref<4x8xf32>, memref<4xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<64xf32>, %y: memref<64xf32>):
  // expected-error @below {{hir.configuration: the operation, with what is fused with it, is not of 'pointwise'}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) attrs = {hir.configuration = {family = "pointwise"}} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
}) {sym_name = "main", function_type = (memref<64xf32>, memref<64xf32>) -> ()} : () -> ()

// -----

// Where a row has 30 results the nearest choice has no whole vectors; asked for, they are refused.

"hir.program"() ({
^bb0(%x: memref<18x32xf32>, %w: memref<3x3xf32>, %y: memref<16x30xf32>):
  // expected-error @below {{hir.configuration: 'width' divides 30, the results of a row}}
  linalg.generic {
    indexing_maps = [affine_map<(h, w, i, j) -> (h + i, w + j)>,
                     affine_map<(h, w, i, j) -> (i, j)>, affine_map<(h, w, i, j) -> (h, w)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%x, %w : memref<18x32xf32>, memref<3x3xf32>) outs(%y : memref<16x30xf32>)
      attrs = {hir.configuration = {family = "windows", width = 4}} {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %m = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 2, 3>} : (f32) -> f32
    linalg.yield %m : f32
  }
}) {sym_name = "main", function_type = (memref<18x32xf32>, memref<3x3xf32>, memref<16x30xf32>) -> ()} : () -> ()
