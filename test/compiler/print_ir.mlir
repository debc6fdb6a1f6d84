// --print-ir-after, on standard error.
// RUN: hirc %s --stop-after=kernels --print-ir-after=all -o %t 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: hirc %s --stop-after=kernels --print-ir-after=changed -o %t 2>&1 | FileCheck %s --check-prefix=CHANGED
// RUN: hirc %s --stop-after=entries --print-ir-after=add-entry-point -o %t 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: FileCheck %s --check-prefix=FILE --input-file %t

// ALL:     // ----- IR after expand-gpu-memset -----
// ALL:     affine.for
// ALL:     // ----- IR after lower-affine -----
// ALL-NOT: affine.for
// ALL:     // ----- IR after add-entry-point{entry=main required=true} -----

// What changed nothing is named in a line.
// CHANGED: // ----- expand-gpu-memset changed nothing -----
// CHANGED: // ----- IR after lower-affine -----
// CHANGED: // ----- IR after add-entry-point{entry=main required=true} -----

// ONE-NOT:  lower-affine
// ONE:      // ----- IR after add-entry-point{entry=main required=true} -----
// ONE-NEXT: module {
// ONE:      func.func @main() -> i32
// ONE-NOT:  IR after

// FILE-NOT: -----
// FILE:     func.func @main() -> i32
func.func @main() {
  %m = memref.alloca() : memref<4xf32>
  %0 = arith.constant 0.0 : f32
  affine.for %i = 0 to 4 {
    affine.store %0, %m[%i] : memref<4xf32>
  }
  return
}
