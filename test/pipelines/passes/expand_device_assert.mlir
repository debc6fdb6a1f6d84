// RUN: hirc-opt %s -p 'gpu.module(expand-device-assert)' | FileCheck %s

// CHECK:      llvm.func @__ockl_fprintf_append_string_n(i64, !llvm.ptr, i64, i32) -> i64
// CHECK:      llvm.func @__ockl_fprintf_stderr_begin() -> i64
// CHECK:      @hirc_assertion("{{.*}}expand_device_assert.mlir:21:5: Assertion `at most 100%%` failed\0A\00")
// CHECK:      gpu.func @check
// CHECK-SAME:   %[[FINE:.*]]: i1
// CHECK:        %[[FAILS:.*]] = arith.xori %[[FINE]], %{{.*}} : i1
// CHECK:        scf.if %[[FAILS]] {
// CHECK:          %[[BEGUN:.*]] = llvm.call @__ockl_fprintf_stderr_begin()
// CHECK:          llvm.call @__ockl_fprintf_append_string_n(%[[BEGUN]]
// CHECK:          llvm.intr.trap
// CHECK:        }
// The second check of the module calls the same functions, with a text of its own.
// CHECK-NOT:    llvm.func
// CHECK:        llvm.mlir.addressof @hirc_assertion_1

gpu.module @m {
  gpu.func @check(%fine: i1) kernel {
    // The next line has to be line 21.
    cf.assert %fine, "at most 100%"
    cf.assert %fine, "again"
    gpu.return
  }
}
