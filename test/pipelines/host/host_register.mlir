// RUN: hirc-opt %s --convert-gpu-host-to-cuda | FileCheck %s

// CHECK-LABEL: func.func @pin(
// CHECK-SAME:      %[[BUFFER:.*]]: memref<*xf32>, %[[COMPLEX:.*]]: memref<*xcomplex<f64>>)
// CHECK:         %[[DESCRIPTOR:.*]] = builtin.unrealized_conversion_cast %[[BUFFER]] : memref<*xf32> to !llvm.struct<(i64, ptr)>
// CHECK:         %[[RANK:.*]] = llvm.extractvalue %[[DESCRIPTOR]][0]
// CHECK:         %[[ADDRESS:.*]] = llvm.extractvalue %[[DESCRIPTOR]][1]
// CHECK:         %[[EACH:.*]] = llvm.mlir.constant(4 : i64)
// CHECK:         llvm.call @hirc_host_register(%[[RANK]], %[[ADDRESS]], %[[EACH]], %{{.*}}) : (i64, !llvm.ptr, i64, !llvm.ptr) -> ()
// CHECK:         %[[EACH:.*]] = llvm.mlir.constant(16 : i64)
// CHECK:         llvm.call @hirc_host_unregister(%{{.*}}, %{{.*}}, %[[EACH]], %{{.*}})
func.func @pin(%m: memref<*xf32>, %n: memref<*xcomplex<f64>>) {
  gpu.host_register %m : memref<*xf32>
  gpu.host_unregister %n : memref<*xcomplex<f64>>
  return
}
