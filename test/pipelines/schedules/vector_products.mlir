// RUN: hirc %s --offload-arch=sm_90 --products=own --stop-after=schedules --emit=shared -o - | FileCheck %s

// A vector times a large matrix is summed in columns, split over the device, though the vector lies
// along the sums; a small one in rows.

// CHECK:      launcher = @[[LARGE:[a-z_0-9]*]]}
// CHECK:      sym_name = "large"
// CHECK:      "hir.launch"
// CHECK:        kernel = @kernels::@[[PART:[a-z_]*_part_[0-9]*]]
// CHECK:      sym_name = "[[LARGE]]"
// CHECK:      launcher = @[[SMALL:[a-z_0-9]*]]}
// CHECK:      sym_name = "small"
// CHECK-NOT:  _part_
// CHECK:      sym_name = "[[SMALL]]"
#vector = affine_map<(n, k) -> (k)>
#matrix = affine_map<(n, k) -> (k, n)>
#sums = affine_map<(n, k) -> (n)>
"hir.program"() ({
^bb0(%x: memref<4096xf32>, %w: memref<4096x4096xf32>, %y: memref<4096xf32>):
  linalg.generic {indexing_maps = [#vector, #matrix, #sums], iterator_types = ["parallel", "reduction"]}
    ins(%x, %w : memref<4096xf32>, memref<4096x4096xf32>) outs(%y : memref<4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "large", function_type = (memref<4096xf32>, memref<4096x4096xf32>, memref<4096xf32>) -> ()} : () -> ()
"hir.program"() ({
^bb0(%x: memref<256xf32>, %w: memref<256x256xf32>, %y: memref<256xf32>):
  linalg.generic {indexing_maps = [#vector, #matrix, #sums], iterator_types = ["parallel", "reduction"]}
    ins(%x, %w : memref<256xf32>, memref<256x256xf32>) outs(%y : memref<256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %s : f32
  }
}) {sym_name = "small", function_type = (memref<256xf32>, memref<256x256xf32>, memref<256xf32>) -> ()} : () -> ()
