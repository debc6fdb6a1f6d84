// RUN: rm -rf %t && mkdir -p %t
// RUN: not hirc %s --emit=object -o %t/out 2>&1 | FileCheck %s
// RUN: rmdir %t

// CHECK: nested_module.mlir:[[# @LINE + 5]]:3: error: a module inside the module is not compiled
// CHECK-NEXT: module @inner
// CHECK: in stage 'parse'
// CHECK-NEXT: hint: give each module as an input of its own
module {
  module @inner {
    func.func @f() {
      return
    }
  }
}
