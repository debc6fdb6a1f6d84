// RUN: hirc %s --emit=shared --offload-arch=sm_90 --stop-after=interface -o - | FileCheck %s

// An offset may have more than 32 bits.
// CHECK: func.func private @hirc_body_main
// CHECK: %[[OFFSET:.*]] = llvm.mlir.constant(2684354560 : i64) : i64
// CHECK: llvm.getelementptr %{{.*}}[%[[OFFSET]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
func.func @main(%x: tensor<4xf32>, %w: tensor<671088640xf32> {hirc.weight = "w"},
                %b: tensor<4xf32> {hirc.weight = "b"}) -> tensor<4xf32> {
  %y = arith.addf %x, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}
