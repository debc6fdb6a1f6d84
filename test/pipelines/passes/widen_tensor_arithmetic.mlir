// RUN: hirc-opt %s --split-input-file --widen-tensor-arithmetic | FileCheck %s

#id = affine_map<(c) -> (c)>
// What is computed is in f32; what is stored, and what the program rounds, is rounded.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<4xbf16>, %e: tensor<4xbf16>) -> tensor<4xbf16> {
  %two = arith.constant 2.0 : bf16
  // CHECK:      ^bb0(%[[A:.*]]: bf16, %{{.*}}: bf16):
  // CHECK-NEXT:   %[[W:.*]] = arith.extf %[[A]] : bf16 to f32
  // CHECK-NEXT:   %[[E:.*]] = math.exp %[[W]] : f32
  // CHECK-NEXT:   %[[TWO:.*]] = arith.constant 2.0{{.*}} : f32
  // CHECK-NEXT:   %[[M:.*]] = arith.mulf %[[E]], %[[TWO]] fastmath<contract> : f32
  // CHECK-NEXT:   %[[L:.*]] = arith.cmpf olt, %[[M]], %[[W]] : f32
  // CHECK-NEXT:   %[[S:.*]] = arith.select %[[L]], %[[M]], %[[W]] : f32
  // CHECK-NEXT:   %[[R:.*]] = arith.truncf %[[S]] : f32 to bf16
  // CHECK-NEXT:   linalg.yield %[[R]] : bf16
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%x : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %p = math.exp %a : bf16
    %m = arith.mulf %p, %two fastmath<contract> : bf16
    %l = arith.cmpf olt, %m, %a : bf16
    %s = arith.select %l, %m, %a : bf16
    linalg.yield %s : bf16
  } -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// -----

#id = affine_map<(c) -> (c)>
// The program's own rounding stays; that of a result which it extends again does not.
// CHECK-LABEL: func.func @casts
func.func @casts(%x: tensor<4xf32>, %e: tensor<4xf64>) -> (tensor<4xf64>) {
  // CHECK:      %[[H:.*]] = arith.truncf %{{.*}} : f32 to f16
  // CHECK-NEXT: %[[W:.*]] = arith.extf %[[H]] : f16 to f32
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[W]], %[[W]] : f32
  // CHECK-NEXT: %[[D:.*]] = arith.extf %[[S]] : f32 to f64
  // CHECK-NEXT: linalg.yield %[[D]] : f64
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%x : tensor<4xf32>) outs(%e : tensor<4xf64>) {
  ^bb0(%a: f32, %o: f64):
    %h = arith.truncf %a : f32 to f16
    %s = arith.addf %h, %h : f16
    %d = arith.extf %s : f16 to f64
    linalg.yield %d : f64
  } -> tensor<4xf64>
  return %y : tensor<4xf64>
}
