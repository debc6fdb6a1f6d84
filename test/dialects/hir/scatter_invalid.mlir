// RUN: hirc-opt %s --split-input-file --verify-diagnostics

#same = affine_map<(i) -> (i)>
#first = affine_map<(i) -> (0)>
func.func @input(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#same, #first], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    // expected-error @below {{hir.scatter takes the argument of an output, and what it gives is yielded there}}
    %r = "hir.scatter"(%a, %a, %i) : (f32, f32, index) -> f32
    linalg.yield %r : f32
  }
  return
}

// -----

#same = affine_map<(i) -> (i)>
#first = affine_map<(i) -> (0)>
func.func @dropped(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#same, #first], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    // expected-error @below {{hir.scatter takes the argument of an output, and what it gives is yielded there}}
    %r = "hir.scatter"(%o, %a, %i) : (f32, f32, index) -> f32
    linalg.yield %a : f32
  }
  return
}

// -----

#same = affine_map<(i) -> (i)>
#first = affine_map<(i) -> (0)>
func.func @places(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#same, #first], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    // expected-error @below {{hir.scatter into memref<?xf32> takes f32 and 1 place, not f32 and 0}}
    %r = "hir.scatter"(%o, %a) : (f32, f32) -> f32
    linalg.yield %r : f32
  }
  return
}

// -----

#same = affine_map<(i) -> (i)>
#first = affine_map<(i) -> (0)>
func.func @kind(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#same, #first], iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    // expected-error @below {{hir.scatter 'kind' of f32 is one of addf, mulf, maximumf, minimumf, maxnumf, minnumf, not "addi"}}
    %r = "hir.scatter"(%o, %a, %i) {kind = "addi"} : (f32, f32, index) -> f32
    linalg.yield %r : f32
  }
  return
}
