// RUN: hirc-opt %s --split-input-file -p convert-func-to-hir | FileCheck %s

// CHECK-LABEL: "hir.program"()
// CHECK:       ^bb0(%[[X:.*]]: memref<?xf32>, %[[FLAG:.*]]: i1):
// CHECK:         %[[Y:.*]] = "hir.allocate"(%{{.*}}) : (index) -> memref<?xf32>
// CHECK:         "hir.set"(%[[X]], %[[Y]])
// CHECK:         "hir.for"(%[[FROM:.*]], %[[TO:.*]], %[[STEP:.*]]) ({
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index):
// CHECK-NEXT:      linalg.fill ins(%{{.*}}) outs(%[[Y]]
// CHECK-NEXT:    }) : (index, index, index) -> ()
// CHECK:         %[[CHOSEN:.*]] = "hir.if"(%[[FLAG]]) ({
// CHECK-NEXT:      "hir.output"(%[[X]])
// CHECK-NEXT:    }, {
// CHECK-NEXT:      "hir.output"(%[[Y]])
// CHECK-NEXT:    })
// CHECK:         %[[Z:.*]] = "hir.result"(%[[CHOSEN]]) {index = 0 : i64}
// CHECK:         %[[CALL:.*]] = "hir.call"() ({
// CHECK-NEXT:      "hir.argument"(%[[Z]])
// CHECK-NEXT:    }) {callee = @helper}
// CHECK:         %[[W:.*]] = "hir.result"(%[[CALL]]) {index = 0 : i64}
// CHECK:         "hir.deallocate"(%[[Y]])
// CHECK:         "hir.output"(%[[W]])
// CHECK:       function_type = (memref<?xf32>, i1) -> memref<?xf32>, sym_name = "main"
// CHECK:       func.func @other
func.func @main(%x: memref<?xf32>, %flag: i1) -> memref<?xf32> attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %y : memref<?xf32> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    linalg.fill ins(%zero : f32) outs(%y : memref<?xf32>)
  }
  %z = scf.if %flag -> memref<?xf32> {
    scf.yield %x : memref<?xf32>
  } else {
    scf.yield %y : memref<?xf32>
  }
  %w = call @helper(%z) : (memref<?xf32>) -> memref<?xf32>
  memref.dealloc %y : memref<?xf32>
  return %w : memref<?xf32>
}
func.func private @helper(%x: memref<?xf32>) -> memref<?xf32> attributes {hir.program} {
  return %x : memref<?xf32>
}
func.func @other(%x: memref<?xf32>) -> memref<?xf32> {
  return %x : memref<?xf32>
}

// -----

// A constant's value goes to the device; on the host its address there is what counts.

// CHECK:       gpu.module @constants {
// CHECK-NEXT:    memref.global constant @weights : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]>
// CHECK:       memref.global "private" @weights : memref<2xf32>
// CHECK-NOT:   dense
// CHECK:       "hir.program"
// CHECK:         memref.get_global @weights
memref.global "private" constant @weights : memref<2xf32> = dense<[1.0, 2.0]>
func.func @main(%y: memref<2xf32>) attributes {hir.program} {
  %w = memref.get_global @weights : memref<2xf32>
  memref.copy %w, %y : memref<2xf32> to memref<2xf32>
  return
}

// -----

// CHECK-LABEL: ^bb0(%{{.*}}: memref<2xf32>, %{{.*}}: f32)
// CHECK:         "hir.output"(%{{.*}}) : (f32)
// CHECK:         "hir.output"(%{{.*}}) {name = "same"}
// CHECK:       inputs = [{name = "x"}, {name = "input1"}]
func.func @main(%x: memref<2xf32> {hir.name = "x"}, %k: f32)
    -> (f32, memref<2xf32> {hir.name = "same"}) attributes {hir.program} {
  return %k, %x : f32, memref<2xf32>
}

// -----

// Single elements, on the host, go over pinned memory; in kernels they are the kernel's.

// CHECK:       ^bb0(%[[X:.*]]: memref<4xf32>, %[[I:.*]]: index)
// CHECK:         %[[FROM:.*]] = "hir.select"(%[[X]], %[[I]])
// CHECK:         %[[PINNED:.*]] = "hir.allocate"() {memory = "pinned"} : () -> memref<f32>
// CHECK-NEXT:    "hir.set"(%[[FROM]], %[[PINNED]])
// CHECK-NEXT:    "hir.synchronize"()
// CHECK-NEXT:    %[[ELEMENT:.*]] = memref.load %[[PINNED]]
// CHECK-NEXT:    %[[TO:.*]] = "hir.select"(%[[X]], %{{.*}})
// CHECK-NEXT:    "hir.set"(%[[ELEMENT]], %[[TO]])
// CHECK:         linalg.generic
// CHECK:           memref.load %[[X]]
func.func @main(%x: memref<4xf32>, %i: index) attributes {hir.program} {
  %c0 = arith.constant 0 : index
  %e = memref.load %x[%i] : memref<4xf32>
  memref.store %e, %x[%c0] : memref<4xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<4xf32>) {
  ^bb0(%old: f32):
    %new = memref.load %x[%c0] : memref<4xf32>
    linalg.yield %new : f32
  }
  return
}

// -----

// A constant that is an output is copied: the output's owner may write to it.

// CHECK:      %[[W:.*]] = memref.get_global @weights
// CHECK-NEXT: %[[COPY:.*]] = "hir.set"(%[[W]]) : (memref<2xf32>) -> memref<2xf32>
// CHECK-NEXT: "hir.output"(%[[COPY]])
memref.global "private" constant @weights : memref<2xf32> = dense<[1.0, 2.0]>
func.func @main() -> memref<2xf32> attributes {hir.program} {
  %w = memref.get_global @weights : memref<2xf32>
  return %w : memref<2xf32>
}
