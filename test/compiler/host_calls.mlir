// A program may declare the functions that vector.print calls, and use both.
// RUN: hirc %s -o %t && %t | FileCheck %s

// CHECK:      2
// CHECK-NEXT: ( 2, 2 )
// CHECK:      2
// CHECK-NEXT: 0.5
func.func private @printF32(f32)
func.func private @printNewline()
func.func @main() {
  %0 = arith.constant 2.0 : f32
  %1 = vector.broadcast %0 : f32 to vector<2xf32>
  vector.print %0 : f32
  vector.print %1 : vector<2xf32>
  call @printF32(%0) : (f32) -> ()
  call @printNewline() : () -> ()
  // A function of the C library, which the lowering declares.
  %2 = arith.constant 0.546302489843790513 : f64
  %3 = math.tan %2 : f64
  %4 = math.atan %3 : f64
  %5 = arith.divf %4, %2 : f64
  %6 = arith.constant 0.5 : f64
  %7 = arith.mulf %5, %6 : f64
  %8 = arith.truncf %7 : f64 to f32
  vector.print %8 : f32
  // Sums with a carry and differences with a borrow, of index.
  // CHECK-NEXT: 3
  // CHECK-NEXT: 1
  %9 = arith.constant 3 : index
  %10 = arith.constant 4 : index
  %11, %12 = arith.addui_extended %9, %9 : index, i1
  %13, %14 = arith.subui_extended %9, %10 : index, i1
  %15 = arith.remui %13, %10 : index
  vector.print %15 : index
  vector.print %14 : i1
  return
}
