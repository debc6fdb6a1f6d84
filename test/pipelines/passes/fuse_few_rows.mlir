// RUN: hirc %s --offload-arch=sm_90a --emit=shared --stop-after=fusion -o - | FileCheck %s
// RUN: hirc %s --offload-arch=sm_90a --emit=shared --stop-after=schedules -o - | FileCheck %s --check-prefix=KERNEL

// Two matrices times the same four rows are one kernel, which reads the rows once; of nine rows, and
// of matrices with other numbers of columns, they are two.

// CHECK-LABEL: func.func @few
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : tensor<4x256xbf16>, tensor<128x256xbf16>, tensor<128x256xbf16>)
// CHECK:           hir.reduce_loops
// CHECK:           hir.reduce_loops
// CHECK-NOT:     linalg.generic
// CHECK-LABEL: func.func @more
// CHECK:         linalg.
// CHECK-NOT:     tensor<9x256xbf16>, tensor<128x256xbf16>, tensor<128x256xbf16>
// CHECK-LABEL: func.func @other
// CHECK:         linalg.generic
// CHECK:         linalg.generic

// KERNEL:     gpu.func @{{.*}}family = "few_rows"
// KERNEL-NOT:   gpu.return
// KERNEL:       "prefetch.global.L2 [$0];"
// KERNEL:       "prefetch.global.L2 [$0];"

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func @few(%x: tensor<4x256xbf16>, %w: tensor<128x256xbf16>, %v: tensor<128x256xbf16>)
    -> (tensor<4x128xf32>, tensor<4x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x128xf32>) -> tensor<4x128xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
    ins(%x, %w : tensor<4x256xbf16>, tensor<128x256xbf16>) outs(%start : tensor<4x128xf32>) -> tensor<4x128xf32>
  %z = linalg.matmul indexing_maps = [#x, #w, #y]
    ins(%x, %v : tensor<4x256xbf16>, tensor<128x256xbf16>) outs(%start : tensor<4x128xf32>) -> tensor<4x128xf32>
  return %y, %z : tensor<4x128xf32>, tensor<4x128xf32>
}
func.func @more(%x: tensor<9x256xbf16>, %w: tensor<128x256xbf16>, %v: tensor<128x256xbf16>)
    -> (tensor<9x128xf32>, tensor<9x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<9x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<9x128xf32>) -> tensor<9x128xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
    ins(%x, %w : tensor<9x256xbf16>, tensor<128x256xbf16>) outs(%start : tensor<9x128xf32>) -> tensor<9x128xf32>
  %z = linalg.matmul indexing_maps = [#x, #w, #y]
    ins(%x, %v : tensor<9x256xbf16>, tensor<128x256xbf16>) outs(%start : tensor<9x128xf32>) -> tensor<9x128xf32>
  return %y, %z : tensor<9x128xf32>, tensor<9x128xf32>
}
func.func @other(%x: tensor<4x256xbf16>, %w: tensor<128x256xbf16>, %v: tensor<192x256xbf16>)
    -> (tensor<4x128xf32>, tensor<4x192xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x128xf32>) -> tensor<4x128xf32>
  %wider = tensor.empty() : tensor<4x192xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%wider : tensor<4x192xf32>) -> tensor<4x192xf32>
  %y = linalg.matmul indexing_maps = [#x, #w, #y]
    ins(%x, %w : tensor<4x256xbf16>, tensor<128x256xbf16>) outs(%start : tensor<4x128xf32>) -> tensor<4x128xf32>
  %z = linalg.matmul indexing_maps = [#x, #w, #y]
    ins(%x, %v : tensor<4x256xbf16>, tensor<192x256xbf16>) outs(%begin : tensor<4x192xf32>) -> tensor<4x192xf32>
  return %y, %z : tensor<4x128xf32>, tensor<4x192xf32>
}
