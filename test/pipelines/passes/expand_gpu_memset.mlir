// RUN: hirc-opt %s --expand-gpu-memset | FileCheck %s

// A value that repeats one byte over packed memory stays: the runtime sets bytes.
// CHECK-LABEL: func.func @bytes(
// CHECK-NOT:     gpu.launch
// CHECK-COUNT-3: gpu.memset
// CHECK-NOT:     gpu.launch
// CHECK:         return
func.func @bytes(%a: memref<?x4xf32>, %b: memref<4xi16, strided<[1], offset: ?>>, %c: memref<f64>) {
  %zero = arith.constant 0.0 : f32
  %pattern = arith.constant 0x7F7F : i16
  %wide = arith.constant 0.0 : f64
  gpu.memset %a, %zero : memref<?x4xf32>, f32
  gpu.memset %b, %pattern : memref<4xi16, strided<[1], offset: ?>>, i16
  gpu.memset %c, %wide : memref<f64>, f64
  return
}

// Any other value is stored by one thread an element, at least one block of them.
// CHECK-LABEL: func.func @value(
// CHECK-SAME:      %[[M:.*]]: memref<?x3xf32>, %[[VALUE:.*]]: f32)
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[BLOCK:.*]] = arith.constant 256 : index
// CHECK:         %[[ROWS:.*]] = memref.dim %[[M]]
// CHECK:         %[[COLUMNS:.*]] = memref.dim %[[M]]
// CHECK:         %[[SOME:.*]] = arith.muli %{{.*}}, %[[ROWS]]
// CHECK:         %[[TOTAL:.*]] = arith.muli %[[SOME]], %[[COLUMNS]]
// CHECK:         %[[NEEDED:.*]] = arith.ceildivui %[[TOTAL]], %[[BLOCK]]
// CHECK:         %[[BLOCKS:.*]] = arith.maxui %[[NEEDED]], %[[ONE]]
// CHECK:         gpu.launch blocks(%[[BX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[BLOCKS]], %{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]]) threads(%[[TX:.*]], %{{.*}}, %{{.*}}) in (%[[SIZE:.*]] = %[[BLOCK]],
// CHECK:           %[[FIRST:.*]] = arith.muli %[[BX]], %[[SIZE]]
// CHECK:           %[[THREAD:.*]] = arith.addi %[[FIRST]], %[[TX]]
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[THREAD]], %[[TOTAL]]
// CHECK:           scf.if %[[INSIDE]] {
// CHECK:             %[[COLUMN:.*]] = arith.remui %[[THREAD]], %[[COLUMNS]]
// CHECK:             %[[REST:.*]] = arith.divui %[[THREAD]], %[[COLUMNS]]
// CHECK:             %[[ROW:.*]] = arith.remui %[[REST]], %[[ROWS]]
// CHECK:             memref.store %[[VALUE]], %[[M]][%[[ROW]], %[[COLUMN]]]
// CHECK-NOT:     gpu.memset
// CHECK:         return
func.func @value(%m: memref<?x3xf32>, %value: f32) {
  gpu.memset %m, %value : memref<?x3xf32>, f32
  return
}

// Zeros that do not lie packed are stored one by one too, and a token stays a token.
// CHECK-LABEL: func.func @strided(
// CHECK-SAME:      %[[TOKEN:[a-z0-9]+]]: !gpu.async.token) -> !gpu.async.token
// CHECK:         %[[LAUNCHED:.*]] = gpu.launch async [%[[TOKEN]]{{\]}}
// CHECK:         return %[[LAUNCHED]]
func.func @strided(%m: memref<4xf32, strided<[2]>>, %t: !gpu.async.token) -> !gpu.async.token {
  %zero = arith.constant 0.0 : f32
  %0 = gpu.memset async [%t] %m, %zero : memref<4xf32, strided<[2]>>, f32
  return %0 : !gpu.async.token
}

// Rank 0 is one element.
// CHECK-LABEL: func.func @rank_0(
// CHECK:         gpu.launch
// CHECK:           memref.store %{{.*}}, %{{.*}}[] : memref<f32>
func.func @rank_0(%m: memref<f32>) {
  %one = arith.constant 1.0 : f32
  gpu.memset %m, %one : memref<f32>, f32
  return
}
