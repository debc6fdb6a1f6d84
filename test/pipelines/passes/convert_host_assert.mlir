// RUN: hirc-opt %s --convert-host-assert | FileCheck %s

// CHECK-DAG: @[[MESSAGE:hirc_string_[0-9]+]]("wrong \22value\22\00")
// CHECK-DAG: @[[PLACE:hirc_string_[0-9]+]]("{{.*}}convert_host_assert.mlir:[[# @LINE + 10]]:3\00")

// CHECK-LABEL: func.func @main(
// CHECK-SAME:      %[[FINE:.*]]: i1)
// CHECK:         %[[WRONG:.*]] = arith.xori %[[FINE]], %{{.*}} : i1
// CHECK:         scf.if %[[WRONG]] {
// CHECK-DAG:       %[[TEXT:.*]] = llvm.mlir.addressof @[[MESSAGE]]
// CHECK-DAG:       %[[WHERE:.*]] = llvm.mlir.addressof @[[PLACE]]
// CHECK:           llvm.call @hirc_assert_failed(%[[TEXT]], %[[WHERE]]) : (!llvm.ptr, !llvm.ptr) -> ()
func.func @main(%fine: i1) {
  cf.assert %fine, "wrong \"value\""
  return
}
// A kernel's assertion is the device's affair.
// CHECK-LABEL: gpu.func @k(
// CHECK:         cf.assert
gpu.module @m {
  gpu.func @k(%fine: i1) kernel {
    cf.assert %fine, "on the device"
    gpu.return
  }
}
