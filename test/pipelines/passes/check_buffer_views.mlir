// RUN: hirc-opt %s --split-input-file -p 'check-buffer-views,func.func(canonicalize,cse,canonicalize)' | FileCheck %s

// CHECK-LABEL: func.func @cast
// CHECK: %[[SIZE:.*]] = memref.dim %arg0, %c0
// CHECK: %[[FITS:.*]] = arith.cmpi eq, %[[SIZE]], %c4
// CHECK: cf.assert %[[FITS]], "memref.cast: the size of dim 0 is not the 4 that its type says"
// CHECK-NOT: cf.assert
func.func @cast(%x: memref<?xf32>) -> memref<4xf32> {
  %y = memref.cast %x : memref<?xf32> to memref<4xf32>
  return %y : memref<4xf32>
}

// -----

// What types say, and the other way round.
// CHECK-LABEL: func.func @nothing_to_check
// CHECK-NOT: cf.assert
// CHECK: return
func.func @nothing_to_check(%x: memref<8x4xf32>, %y: memref<?x4xf32>, %z: memref<?x4xf32>)
    -> (memref<?x4xf32>, memref<2x4xf32, strided<[8, 1], offset: 4>>, memref<?xf32>, memref<*xf32>) {
  %a = memref.cast %x : memref<8x4xf32> to memref<?x4xf32>
  %b = memref.subview %x[1, 0] [2, 4] [2, 1]
      : memref<8x4xf32> to memref<2x4xf32, strided<[8, 1], offset: 4>>
  %c = memref.collapse_shape %y [[0, 1]] : memref<?x4xf32> into memref<?xf32>
  %d = memref.cast %y : memref<?x4xf32> to memref<*xf32>
  memref.copy %y, %y : memref<?x4xf32> to memref<?x4xf32>
  return %a, %b, %c, %d
      : memref<?x4xf32>, memref<2x4xf32, strided<[8, 1], offset: 4>>, memref<?xf32>, memref<*xf32>
}

// -----

// Kernels are not host code; a view that they are given is.
// CHECK-LABEL: func.func @kernels
// CHECK: cf.assert {{.*}}, "memref.subview: the slice's offset, size and stride go beyond the size of dim 0"
// CHECK: gpu.launch
// CHECK-NOT: cf.assert
func.func @kernels(%x: memref<?xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %y = memref.subview %x[%n] [4] [1] : memref<?xf32> to memref<4xf32, strided<[1], offset: ?>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %z = memref.subview %y[%tx] [2] [1]
        : memref<4xf32, strided<[1], offset: ?>> to memref<2xf32, strided<[1], offset: ?>>
    %v = memref.load %z[%tx] : memref<2xf32, strided<[1], offset: ?>>
    memref.store %v, %x[%tx] : memref<?xf32>
    gpu.terminator
  }
  return
}
gpu.module @device {
  gpu.func @inside(%x: memref<?xf32>, %n: index) kernel {
    %y = memref.cast %x : memref<?xf32> to memref<4xf32>
    %v = memref.load %y[%n] : memref<4xf32>
    memref.store %v, %x[%n] : memref<?xf32>
    gpu.return
  }
}

// -----

// Where its memory ends is not known of what has strides, or is another function's to know.
// CHECK-LABEL: func.func private @unknown_end
// CHECK-COUNT-2: cf.assert {{.*}}, "memref.reinterpret_cast: the size of dim 0 is negative"
// CHECK-NOT: cf.assert
// CHECK-LABEL: func.func @known_end
// CHECK: cf.assert {{.*}}, "memref.reinterpret_cast: the size of dim 0 is negative"
// CHECK: cf.assert {{.*}}, "memref.reinterpret_cast: it goes beyond the memory of its operand"
func.func private @unknown_end(%x: memref<8xf32>, %y: memref<8xf32, strided<[2]>>, %n: index)
    -> (memref<?xf32>, memref<?xf32>) {
  %a = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1]
      : memref<8xf32> to memref<?xf32>
  %m = arith.addi %n, %n : index
  %b = memref.reinterpret_cast %y to offset: [0], sizes: [%m], strides: [1]
      : memref<8xf32, strided<[2]>> to memref<?xf32>
  return %a, %b : memref<?xf32>, memref<?xf32>
}
func.func @known_end(%x: memref<8xf32>, %n: index) -> memref<?xf32> {
  %a = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1]
      : memref<8xf32> to memref<?xf32>
  return %a : memref<?xf32>
}
