// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<4x8xf32>, %n: memref<4x8xi32>, %y: memref<4xf32>, %p: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>,
                                   affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : memref<4x8xf32>, memref<4x8xi32>) outs(%y, %p : memref<4xf32>, memref<4xi64>) {
  ^bb0(%a: f32, %i: i32, %b: f32, %q: i64):
    // expected-error @below {{hir.scan_loop 'kind' of f32 is one of addf, mulf, maximumf, minimumf, maxnumf, minnumf, logaddexp, not "addi"}}
    %s = "hir.scan_loop"(%a) {kind = "addi", loop = 1 : i64} : (f32) -> f32
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
    // expected-error @below {{hir.scan_loop 'kind' of i32 is one of addi, muli, maxsi, maxui, minsi, minui, andi, ori, xori, not "maximumf"}}
    %s = "hir.scan_loop"(%i) {kind = "maximumf", loop = 1 : i64} : (i32) -> i32
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
    // expected-error @below {{hir.scan_loop: kind is a string, not 1 : i64}}
    %s = "hir.scan_loop"(%a) {kind = 1 : i64, loop = 1 : i64} : (f32) -> f32
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
    // expected-error @below {{hir.scan_loop 'loop' is the number of a loop}}
    %s = "hir.scan_loop"(%a) {kind = "addf", loop = array<i64: 1>} : (f32) -> f32
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
    %s = "hir.scan_loop"(%a) {kind = "addf", loop = 2 : i64} : (f32) -> f32
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
    // expected-error @below {{loop 0 is parallel; what hir.scan_loop goes along is a reduction}}
    %s = "hir.scan_loop"(%a) {kind = "addf", loop = 0 : i64} : (f32) -> f32
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
    // expected-error @below {{hir.scan_loop: exclusive is a flag without value, not true}}
    %s = "hir.scan_loop"(%a) {kind = "addf", loop = 1 : i64, exclusive = true} : (f32) -> f32
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
    // expected-error @below {{hir.scan_loop: reverse is a flag without value, not true}}
    %s = "hir.scan_loop"(%a) {kind = "addf", loop = 1 : i64, reverse = true} : (f32) -> f32
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
    // expected-error @below {{hir.scan_loop of this operand gives f32, not f64}}
    %s = "hir.scan_loop"(%a) {kind = "addf", loop = 1 : i64} : (f32) -> f64
    linalg.yield %a, %q : f32, i64
  }
  return
}

// -----

func.func @case(%a: f32) {
  // expected-error @below {{hir.scan_loop stands in the region of a linalg.generic}}
  %s = "hir.scan_loop"(%a) {kind = "addf", loop = 1 : i64} : (f32) -> f32
  return
}

// -----

func.func @case(%a: index) {
  // expected-error @below {{hir.scan_loop takes a float or an integer, not index}}
  %s = "hir.scan_loop"(%a) {kind = "addf", loop = 1 : i64} : (index) -> index
  return
}
