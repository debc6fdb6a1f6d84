// RUN: hirc-opt %s --split-input-file -p generalize-small-products,normalize-tensor-operations,func.func'(canonicalize,cse)',fuse-tensor-operations,func.func'(canonicalize,cse)' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'generalize-small-products{kernel-multiplications=0},normalize-tensor-operations' | FileCheck %s --check-prefix=NONE

// A small product is one operation with the zeros, what is cheap before it, a bias and an activation.

// CHECK-LABEL: func.func @layer(
// CHECK-SAME:    %[[X:.*]]: tensor<16x32xf16>, %[[W:.*]]: tensor<32x8xf16>, %[[B:.*]]: tensor<8xf16>)
// CHECK-NOT:     linalg.fill
// CHECK:         %[[R:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[W]], %[[B]] :
// CHECK:           arith.negf
// CHECK:           arith.mulf %{{.*}}, %{{.*}} : f16
// CHECK-NEXT:      arith.extf
// CHECK-NEXT:      "hir.reduce_loops"(%{{.*}}) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
// CHECK:           arith.addf
// CHECK:           arith.maximumf
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[R]]
// NONE-LABEL:  func.func @layer(
// NONE:          linalg.matmul
func.func @layer(%x: tensor<16x32xf16>, %w: tensor<32x8xf16>, %b: tensor<8xf16>) -> tensor<16x8xf16> {
  %zero = arith.constant 0.0 : f16
  %c = tensor.empty() : tensor<16x32xf16>
  %n = linalg.negf ins(%x : tensor<16x32xf16>) outs(%c : tensor<16x32xf16>) -> tensor<16x32xf16>
  %e = tensor.empty() : tensor<16x8xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<16x8xf16>) -> tensor<16x8xf16>
  %p = linalg.matmul ins(%n, %w : tensor<16x32xf16>, tensor<32x8xf16>) outs(%z : tensor<16x8xf16>) -> tensor<16x8xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%p, %b : tensor<16x8xf16>, tensor<8xf16>) outs(%e : tensor<16x8xf16>) {
  ^bb0(%s: f16, %t: f16, %o: f16):
    %u = arith.addf %s, %t : f16
    %v = arith.maximumf %u, %zero : f16
    linalg.yield %v : f16
  } -> tensor<16x8xf16>
  return %r : tensor<16x8xf16>
}

// -----

// Integers too, and what is added to. Transposed operands are read as they lie, so that a product
// with a vector is a sum along rows, which is a kernel's whatever its sizes.

// CHECK-DAG:   #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @others(
// CHECK-SAME:    %{{.*}}: tensor<4x8xi8>, %{{.*}}: tensor<8x4xi8>, %[[S:.*]]: tensor<4x4xi32>, %[[W:.*]]: tensor<?x4096xf32>,
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %[[S]] :
// CHECK:           "hir.reduce_loops"(%{{.*}}) {kind = "addi", loops = array<i64: 2>} : (i32) -> i32
// CHECK-NEXT:      arith.addi
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {indexing_maps = [{{.*}}#[[ROWS]]{{.*}}], iterator_types = ["parallel", "reduction"]} ins(%{{.*}}%[[W]]{{.*}} :
// CHECK:           "hir.reduce_loops"
func.func @others(%x: tensor<4x8xi8>, %y: tensor<8x4xi8>, %s: tensor<4x4xi32>, %w: tensor<?x4096xf32>, %v: tensor<4096xf32>, %z: tensor<?xf32>) -> (tensor<4x4xi32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %w, %c0 : tensor<?x4096xf32>
  %i = linalg.matmul ins(%x, %y : tensor<4x8xi8>, tensor<8x4xi8>) outs(%s : tensor<4x4xi32>) -> tensor<4x4xi32>
  %e = tensor.empty(%n) : tensor<4096x?xf32>
  %t = linalg.transpose ins(%w : tensor<?x4096xf32>) outs(%e : tensor<4096x?xf32>) permutation = [1, 0]
  %p = linalg.vecmat ins(%v, %t : tensor<4096xf32>, tensor<4096x?xf32>) outs(%z : tensor<?xf32>) -> tensor<?xf32>
  return %i, %p : tensor<4x4xi32>, tensor<?xf32>
}

// -----

// For the library, or for kernels that keep sums in memory: large ones, and open sizes, of which the
// program decides. A matrix times a vector is a kernel's whichever way its rows lie.

// CHECK-LABEL: func.func @large(
// CHECK:         linalg.matmul
// CHECK-NOT:     linalg.vecmat
// CHECK:         "hir.reduce_loops"
// CHECK:         linalg.matmul
func.func @large(%x: tensor<256x256xf32>, %y: tensor<4096x4096xf32>, %v: tensor<4096xf32>, %o: tensor<?x8xf32>, %p: tensor<8x8xf32>)
    -> (tensor<256x256xf32>, tensor<4096xf32>, tensor<?x8xf32>) {
  %a = linalg.matmul ins(%x, %x : tensor<256x256xf32>, tensor<256x256xf32>) outs(%x : tensor<256x256xf32>) -> tensor<256x256xf32>
  %b = linalg.vecmat ins(%v, %y : tensor<4096xf32>, tensor<4096x4096xf32>) outs(%v : tensor<4096xf32>) -> tensor<4096xf32>
  %c = linalg.matmul ins(%o, %p : tensor<?x8xf32>, tensor<8x8xf32>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %a, %b, %c : tensor<256x256xf32>, tensor<4096xf32>, tensor<?x8xf32>
}

// -----

// Rows that are few beside a large factor: up to 16 of f32, up to 8 of what tensor cores multiply.

// CHECK-LABEL: func.func @rows(
// CHECK:         "hir.reduce_loops"
// CHECK:         linalg.matmul ins(%{{.*}} : tensor<17x256xf32>
// CHECK:         "hir.reduce_loops"
// CHECK:         linalg.matmul ins(%{{.*}} : tensor<9x256xbf16>
func.func @rows(%a: tensor<16x256xf32>, %b: tensor<17x256xf32>, %w: tensor<256x8192xf32>,
                %c: tensor<8x256xbf16>, %d: tensor<9x256xbf16>, %v: tensor<256x8192xbf16>,
                %ra: tensor<16x8192xf32>, %rb: tensor<17x8192xf32>,
                %rc: tensor<8x8192xf32>, %rd: tensor<9x8192xf32>)
    -> (tensor<16x8192xf32>, tensor<17x8192xf32>, tensor<8x8192xf32>, tensor<9x8192xf32>) {
  %0 = linalg.matmul ins(%a, %w : tensor<16x256xf32>, tensor<256x8192xf32>) outs(%ra : tensor<16x8192xf32>) -> tensor<16x8192xf32>
  %1 = linalg.matmul ins(%b, %w : tensor<17x256xf32>, tensor<256x8192xf32>) outs(%rb : tensor<17x8192xf32>) -> tensor<17x8192xf32>
  %2 = linalg.matmul ins(%c, %v : tensor<8x256xbf16>, tensor<256x8192xbf16>) outs(%rc : tensor<8x8192xf32>) -> tensor<8x8192xf32>
  %3 = linalg.matmul ins(%d, %v : tensor<9x256xbf16>, tensor<256x8192xbf16>) outs(%rd : tensor<9x8192xf32>) -> tensor<9x8192xf32>
  return %0, %1, %2, %3 : tensor<16x8192xf32>, tensor<17x8192xf32>, tensor<8x8192xf32>, tensor<9x8192xf32>
}

// -----

// What is made of a product asks for the kernel that the product asked for.

// CHECK-LABEL: func.func @asking(
// CHECK:         linalg.generic {{.*}}hir.configuration = {family = "few_rows", lanes = 64 : i64}
func.func @asking(%a: tensor<4x512xf32>, %w: tensor<512x512xf32>, %r: tensor<4x512xf32>) -> tensor<4x512xf32> {
  %0 = linalg.matmul {hir.configuration = {family = "few_rows", lanes = 64}} ins(%a, %w : tensor<4x512xf32>, tensor<512x512xf32>) outs(%r : tensor<4x512xf32>) -> tensor<4x512xf32>
  return %0 : tensor<4x512xf32>
}

// -----

// A matrix that is one element in another shape.

// CHECK-LABEL: func.func @element(
// CHECK-NOT:     linalg.matvec
// CHECK:         linalg.generic
func.func @element(%x: tensor<f32>, %y: tensor<1xf32>, %r: tensor<1xf32>) -> tensor<1xf32> {
  %a = tensor.expand_shape %x [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %0 = linalg.matvec ins(%a, %y : tensor<1x1xf32>, tensor<1xf32>) outs(%r : tensor<1xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

// One small matrix times many is a kernel's, which the library would take one by one; of any number.
// True batches are the library's, and many that are one matrix of more rows, and larger ones.

// CHECK-LABEL: func.func @one_by_many(
// CHECK-NOT:     linalg.{{(batch_)?}}matmul
// CHECK:         "hir.reduce_loops"
// CHECK:         return
// NONE-LABEL:  func.func @one_by_many(
// NONE-NOT:      "hir.reduce_loops"
// NONE:          return
func.func @one_by_many(%x: tensor<?x16x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16x16xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x16x16xf32>
  %e = tensor.empty(%n) : tensor<?x16x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16x16xf32>) -> tensor<?x16x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%w, %x : tensor<16x16xf32>, tensor<?x16x16xf32>) outs(%z : tensor<?x16x16xf32>) {
  ^bb0(%s: f32, %t: f32, %o: f32):
    %u = arith.mulf %s, %t : f32
    %v = arith.addf %o, %u : f32
    linalg.yield %v : f32
  } -> tensor<?x16x16xf32>
  return %r : tensor<?x16x16xf32>
}

// -----

// CHECK-LABEL: func.func @others(
// CHECK-NOT:     "hir.reduce_loops"
// CHECK:         return
func.func @others(%x: tensor<70000x16x16xf32>, %y: tensor<70000x16x16xf32>, %w: tensor<16x16xf32>, %x32: tensor<70000x32x32xf32>, %w32: tensor<32x32xf32>)
    -> (tensor<70000x16x16xf32>, tensor<70000x16x16xf32>, tensor<70000x32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70000x16x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<70000x16x16xf32>) -> tensor<70000x16x16xf32>
  %batch = linalg.batch_matmul ins(%x, %y : tensor<70000x16x16xf32>, tensor<70000x16x16xf32>) outs(%z : tensor<70000x16x16xf32>) -> tensor<70000x16x16xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
                          iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<70000x16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<70000x16x16xf32>) {
  ^bb0(%s: f32, %t: f32, %o: f32):
    %u = arith.mulf %s, %t : f32
    %v = arith.addf %o, %u : f32
    linalg.yield %v : f32
  } -> tensor<70000x16x16xf32>
  %e32 = tensor.empty() : tensor<70000x32x32xf32>
  %z32 = linalg.fill ins(%zero : f32) outs(%e32 : tensor<70000x32x32xf32>) -> tensor<70000x32x32xf32>
  %large = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
                           iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%w32, %x32 : tensor<32x32xf32>, tensor<70000x32x32xf32>) outs(%z32 : tensor<70000x32x32xf32>) {
  ^bb0(%s: f32, %t: f32, %o: f32):
    %u = arith.mulf %s, %t : f32
    %v = arith.addf %o, %u : f32
    linalg.yield %v : f32
  } -> tensor<70000x32x32xf32>
  return %batch, %rows, %large : tensor<70000x16x16xf32>, tensor<70000x16x16xf32>, tensor<70000x32x32xf32>
}
