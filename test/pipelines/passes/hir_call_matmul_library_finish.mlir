// RUN: hirc-opt %s --split-input-file -p hir-call-matmul-library | FileCheck %s

// What alone reads a product becomes part of the call, which takes its place: a rounding, a bias, an
// activation. The buffer between them goes, and what the call reads is freed after it.

// CHECK-LABEL: "hir.program"()
// CHECK:         %[[A:.*]] = "hir.allocate"() : () -> memref<64x64xbf16>
// CHECK-NOT:     memref<64x64xf32>
// CHECK:         %[[Y:.*]] = "hir.allocate"() : () -> memref<64x64xbf16>
// CHECK:         "hir.library_matmul"(%[[A]], %{{.*}}, %[[Y]], %{{.*}}) {activation = "relu", compute = "f32", dims = [array<i64: 0, 2>, array<i64: 2, 1>, array<i64: 1, 0>, array<i64: 1>]}
// CHECK-NEXT:    "hir.deallocate"(%[[A]])
// CHECK-NOT:     linalg.generic
// CHECK:         sym_name = "finished"
"hir.program"() ({
^bb0(%b: memref<64x64xbf16>, %bias: memref<64xbf16>):
  %zero = arith.constant 0.0 : f32
  %a = "hir.allocate"() : () -> memref<64x64xbf16>
  %t = "hir.allocate"() : () -> memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<64x64xf32>)
  linalg.matmul ins(%a, %b : memref<64x64xbf16>, memref<64x64xbf16>) outs(%t : memref<64x64xf32>)
  "hir.deallocate"(%a) : (memref<64x64xbf16>) -> ()
  %y = "hir.allocate"() : () -> memref<64x64xbf16>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j, i)>],
                  iterator_types = ["parallel", "parallel"]}
    ins(%t, %bias : memref<64x64xf32>, memref<64xbf16>) outs(%y : memref<64x64xbf16>) {
  ^bb0(%x: f32, %c: bf16, %o: bf16):
    %w = arith.extf %c : bf16 to f32
    %s = arith.addf %w, %x : f32
    %p = arith.cmpf ogt, %s, %zero : f32
    %v = arith.select %p, %s, %zero : f32
    %r = arith.truncf %v : f32 to bf16
    linalg.yield %r : bf16
  }
  "hir.deallocate"(%t) : (memref<64x64xf32>) -> ()
  "hir.output"(%y) {name = "y"} : (memref<64x64xbf16>) -> ()
}) {sym_name = "finished", function_type = (memref<64x64xbf16>, memref<64xbf16>) -> memref<64x64xbf16>} : () -> ()

// -----

// A kernel follows: another activation; a product that is read twice, that is an output, or whose
// result lies in the memory of what it reads; numbers for each element.

// CHECK-LABEL: "hir.program"()
// CHECK-COUNT-5: linalg.generic
// CHECK:         sym_name = "kernels"
#id = affine_map<(i, j) -> (i, j)>
"hir.program"() ({
^bb0(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %y: memref<64x64xf32>, %z: memref<64x64xf32>):
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %t = "hir.allocate"() : () -> memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<64x64xf32>)
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%t : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %v = arith.mulf %x, %half : f32
    linalg.yield %v : f32
  }
  %u = "hir.allocate"() : () -> memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%u : memref<64x64xf32>)
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%u : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%u : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %v = arith.maximumf %x, %zero : f32
    linalg.yield %v : f32
  }
  linalg.copy ins(%u : memref<64x64xf32>) outs(%z : memref<64x64xf32>)
  %w = "hir.allocate"() {output = 0 : i64} : () -> memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%w : memref<64x64xf32>)
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%w : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %v = arith.maximumf %x, %zero : f32
    linalg.yield %v : f32
  }
  %c = "hir.allocate"() : () -> memref<64x64xf32>
  %s = "hir.allocate"() : () -> memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<64x64xf32>)
  linalg.matmul ins(%c, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%s : memref<64x64xf32>)
  %again = "hir.reuse"(%c) : (memref<64x64xf32>) -> memref<64x64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : memref<64x64xf32>) outs(%again : memref<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %v = arith.maximumf %x, %zero : f32
    linalg.yield %v : f32
  }
  %d = "hir.allocate"() : () -> memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%d : memref<64x64xf32>)
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%d : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%d, %a : memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%x: f32, %e: f32, %o: f32):
    %v = arith.addf %x, %e : f32
    linalg.yield %v : f32
  }
  "hir.output"(%w) {name = "w"} : (memref<64x64xf32>) -> ()
}) {sym_name = "kernels", function_type = (memref<64x64xf32>, memref<64x64xf32>, memref<64x64xf32>, memref<64x64xf32>) -> memref<64x64xf32>} : () -> ()
