// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<4x8xf32>, %n: memref<4x8xi32>, %y: memref<4xf32>, %p: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                   affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : memref<4x8xf32>, memref<4x8xi32>) outs(%y, %p : memref<4xf32>, memref<4xi64>) {
  ^bb0(%a: f32, %i: i32, %b: f32, %q: i64):
    // expected-error @below {{hir.reduce_loops 'kind' of f32 is one of addf, mulf, maximumf, minimumf, maxnumf, minnumf, not "addi"}}
    %s = "hir.reduce_loops"(%a) {kind = "addi", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %a, %q : f32, i64
  }
  return
}

// -----

func.func @case(%x: memref<4x8xf32>, %n: memref<4x8xi32>, %y: memref<4xf32>, %p: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                   affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : memref<4x8xf32>, memref<4x8xi32>) outs(%y, %p : memref<4xf32>, memref<4xi64>) {
  ^bb0(%a: f32, %i: i32, %b: f32, %q: i64):
    // expected-error @below {{hir.reduce_loops 'kind' of i32 is one of addi, muli, maxsi, maxui, minsi, minui, andi, ori, xori, not "maximumf"}}
    %s = "hir.reduce_loops"(%i) {kind = "maximumf", loops = array<i64: 1>} : (i32) -> i32
    linalg.yield %a, %q : f32, i64
  }
  return
}

// -----

func.func @case(%x: memref<4x8xf32>, %n: memref<4x8xi32>, %y: memref<4xf32>, %p: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                   affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : memref<4x8xf32>, memref<4x8xi32>) outs(%y, %p : memref<4xf32>, memref<4xi64>) {
  ^bb0(%a: f32, %i: i32, %b: f32, %q: i64):
    // expected-error @below {{hir.reduce_loops: kind is a string, not 1 : i64}}
    %s = "hir.reduce_loops"(%a) {kind = 1 : i64, loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %a, %q : f32, i64
  }
  return
}

// -----

func.func @case(%x: memref<4x8xf32>, %n: memref<4x8xi32>, %y: memref<4xf32>, %p: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                   affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : memref<4x8xf32>, memref<4x8xi32>) outs(%y, %p : memref<4xf32>, memref<4xi64>) {
  ^bb0(%a: f32, %i: i32, %b: f32, %q: i64):
    // expected-error @below {{hir.reduce_loops 'loops' is an array<i64: ...> of one loop at least, each once}}
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64>} : (f32) -> f32
    linalg.yield %a, %q : f32, i64
  }
  return
}

// -----

func.func @case(%x: memref<4x8xf32>, %n: memref<4x8xi32>, %y: memref<4xf32>, %p: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                   affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : memref<4x8xf32>, memref<4x8xi32>) outs(%y, %p : memref<4xf32>, memref<4xi64>) {
  ^bb0(%a: f32, %i: i32, %b: f32, %q: i64):
    // expected-error @below {{hir.reduce_loops 'loops' is an array<i64: ...> of one loop at least, each once}}
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1, 1>} : (f32) -> f32
    linalg.yield %a, %q : f32, i64
  }
  return
}

// -----

func.func @case(%x: memref<4x8xf32>, %n: memref<4x8xi32>, %y: memref<4xf32>, %p: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                   affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : memref<4x8xf32>, memref<4x8xi32>) outs(%y, %p : memref<4xf32>, memref<4xi64>) {
  ^bb0(%a: f32, %i: i32, %b: f32, %q: i64):
    // expected-error @below {{hir.reduce_loops 'loops' is an array<i64: ...> of one loop at least, each once}}
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = [1]} : (f32) -> f32
    linalg.yield %a, %q : f32, i64
  }
  return
}

// -----

func.func @case(%x: memref<4x8xf32>, %n: memref<4x8xi32>, %y: memref<4xf32>, %p: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                   affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : memref<4x8xf32>, memref<4x8xi32>) outs(%y, %p : memref<4xf32>, memref<4xi64>) {
  ^bb0(%a: f32, %i: i32, %b: f32, %q: i64):
    // expected-error @below {{the linalg.generic has loops 0 to 1, and no loop 2}}
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1, 2>} : (f32) -> f32
    linalg.yield %a, %q : f32, i64
  }
  return
}

// -----

func.func @case(%x: memref<4x8xf32>, %n: memref<4x8xi32>, %y: memref<4xf32>, %p: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                   affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : memref<4x8xf32>, memref<4x8xi32>) outs(%y, %p : memref<4xf32>, memref<4xi64>) {
  ^bb0(%a: f32, %i: i32, %b: f32, %q: i64):
    // expected-error @below {{the linalg.generic has loops 0 to 1, and no loop -1}}
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: -1>} : (f32) -> f32
    linalg.yield %a, %q : f32, i64
  }
  return
}

// -----

func.func @case(%x: memref<4x8xf32>, %n: memref<4x8xi32>, %y: memref<4xf32>, %p: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                   affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : memref<4x8xf32>, memref<4x8xi32>) outs(%y, %p : memref<4xf32>, memref<4xi64>) {
  ^bb0(%a: f32, %i: i32, %b: f32, %q: i64):
    // expected-error @below {{loop 0 is parallel; what hir.reduce_loops goes along is a reduction}}
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 0, 1>} : (f32) -> f32
    linalg.yield %a, %q : f32, i64
  }
  return
}

// -----

func.func @case(%x: memref<4x8xf32>, %n: memref<4x8xi32>, %y: memref<4xf32>, %p: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                   affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : memref<4x8xf32>, memref<4x8xi32>) outs(%y, %p : memref<4xf32>, memref<4xi64>) {
  ^bb0(%a: f32, %i: i32, %b: f32, %q: i64):
    // expected-error @below {{hir.reduce_loops of this operand gives f32, not f64}}
    %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f64
    linalg.yield %a, %q : f32, i64
  }
  return
}

// -----

func.func @case(%a: f32) {
  // expected-error @below {{hir.reduce_loops stands in the region of a linalg.generic}}
  %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
  return
}

// -----

func.func @case(%a: index) {
  // expected-error @below {{hir.reduce_loops takes a float or an integer, not index}}
  %s = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (index) -> index
  return
}
