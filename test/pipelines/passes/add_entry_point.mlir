// RUN: hirc-opt %s --add-entry-point --split-input-file | FileCheck %s
// RUN: hirc-opt %s --add-entry-point=entry=start --split-input-file | FileCheck %s --check-prefix=START

// C's main returns a status, so one that returns nothing is called by one that returns 0. The
// end of the program waits for the device if it was used.
// CHECK-LABEL: func.func private @hirc_entry_main() {
// CHECK-NEXT:    gpu.wait
// CHECK:       func.func @again() {
// CHECK-NEXT:    call @hirc_entry_main() : () -> ()
// CHECK:       func.func @main() -> i32 {
// CHECK-NEXT:    call @hirc_entry_main() : () -> ()
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.mlir.addressof @hirc_string_0
// CHECK-NEXT:    llvm.call @hirc_program_end(%[[PLACE]]) : (!llvm.ptr) -> ()
// CHECK-NEXT:    return %[[ZERO]] : i32
// Another entry is asked for: this module is left alone.
// START-NOT:   hirc_entry_main
func.func @main() {
  gpu.wait
  return
}
func.func @again() {
  call @main() : () -> ()
  return
}

// -----

// The i32 an entry returns is the status. Another translation unit may use the device.
// CHECK-LABEL: func.func private @hirc_entry_main() -> i32 {
// CHECK:       func.func @main() -> i32 {
// CHECK-NEXT:    %[[STATUS:.*]] = call @hirc_entry_main() : () -> i32
// CHECK:         llvm.call @hirc_program_end(
// CHECK:         return %[[STATUS]] : i32
func.func @main() -> i32 {
  %0 = arith.constant 3 : i32
  return %0 : i32
}

// -----

// An entry of another name keeps it.
// CHECK-NOT:   func.func @main
// CHECK:       func.func @start()
// START:       func.func @start() {
// START:       func.func @main() -> i32 {
// START-NEXT:    call @start() : () -> ()
func.func @start() {
  return
}

// -----

// A C main that LLVM's dialect spells is what it should be, and a declaration is another unit's.
// CHECK-LABEL: llvm.func @main() -> i32
// CHECK-NOT:   hirc_entry_main
llvm.func @main() -> i32 {
  %0 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %0 : i32
}

// -----

// CHECK-LABEL: func.func private @main()
// CHECK-NOT:   hirc_entry_main
func.func private @main()
