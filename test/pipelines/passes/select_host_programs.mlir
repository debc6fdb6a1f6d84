// RUN: hirc-opt %s -p 'select-host-programs{entry=run}' | FileCheck %s
// RUN: hirc-opt %s -p 'select-host-programs{entry=run executable=false}' | FileCheck %s --check-prefix=LIBRARY

// What callers from outside hand in is not to be written.
// CHECK:      func.func @tensors(%{{.*}}: tensor<4xf32> {bufferization.writable = false}, %{{.*}}: index)
// CHECK-SAME:   attributes {hir.program}
func.func @tensors(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK: func.func private @inner(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> attributes {hir.program}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK: func.func private @elsewhere(tensor<4xf32>){{$}}
func.func private @elsewhere(%x: tensor<4xf32>)

// CHECK: func.func @run(%{{.*}}: memref<4xf32>) attributes {hir.program}
// LIBRARY: func.func @run(%{{.*}}: memref<4xf32>) {
func.func @run(%x: memref<4xf32>) {
  return
}

// CHECK: func.func @buffers(%{{.*}}: memref<4xf32>) {
func.func @buffers(%x: memref<4xf32>) {
  return
}
