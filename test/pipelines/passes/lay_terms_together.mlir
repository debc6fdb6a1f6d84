// RUN: hirc-opt %s -p 'lay-channels-together{chips=sm_90a allow-tf32=true products=true}' | FileCheck %s
// RUN: hirc-opt %s -p 'lay-channels-together{chips=sm_75 allow-tf32=true products=true}' | FileCheck %s --check-prefix=NONE
// RUN: hirc-opt %s -p 'lay-channels-together{chips=sm_90a allow-tf32=true}' | FileCheck %s --check-prefix=LIBRARY

// Tensor cores multiply elements of 8 bits whose terms lie together: a copy has them so, of the one
// operand that has not.

// CHECK-LABEL: func.func @bytes(
// CHECK-SAME:    %[[X:.*]]: tensor<4x256x512xi8>, %[[W:.*]]: tensor<4x512x384xi8>
// CHECK:         %[[T:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<4x512x384xi8>) outs({{.*}} : tensor<4x384x512xi8>)
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[T]] :
// NONE-LABEL:  func.func @bytes(
// NONE-NOT:      tensor<4x384x512xi8>
func.func @bytes(%x: tensor<4x256x512xi8>, %w: tensor<4x512x384xi8>, %s: tensor<4x256x384xi32>) -> tensor<4x256x384xi32> {
  %y = linalg.batch_matmul ins(%x, %w : tensor<4x256x512xi8>, tensor<4x512x384xi8>) outs(%s : tensor<4x256x384xi32>) -> tensor<4x256x384xi32>
  return %y : tensor<4x256x384xi32>
}

// f32 that may be tf32 too, where no library computes it.

// CHECK-LABEL: func.func @rounded(
// CHECK:         outs({{.*}} : tensor<2048x2048xf32>)
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// NONE-LABEL:  func.func @rounded(
// NONE:          linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<1024x2048xf32>, tensor<2048x2048xf32>)
// LIBRARY-LABEL: func.func @rounded(
// LIBRARY:         linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<1024x2048xf32>, tensor<2048x2048xf32>)
func.func @rounded(%x: tensor<1024x2048xf32>, %w: tensor<2048x2048xf32>, %s: tensor<1024x2048xf32>) -> tensor<1024x2048xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<1024x2048xf32>, tensor<2048x2048xf32>) outs(%s : tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  return %y : tensor<1024x2048xf32>
}

// Of few rows the copy takes longer than the product. Rows of 2045 become wider later, so that they
// begin where the copy engine takes them; that is for chips that have one.

// CHECK-LABEL: func.func @few(
// CHECK-NOT:     tensor<2048x2064xi8>
// CHECK-LABEL: func.func @odd(
// CHECK:         outs({{.*}} : tensor<2048x2045xi8>)
// NONE-LABEL:  func.func @odd(
// NONE-NOT:      tensor<2048x2045xi8>
func.func @few(%x: tensor<17x2064xi8>, %w: tensor<2064x2048xi8>, %s: tensor<17x2048xi32>) -> tensor<17x2048xi32> {
  %y = linalg.matmul ins(%x, %w : tensor<17x2064xi8>, tensor<2064x2048xi8>) outs(%s : tensor<17x2048xi32>) -> tensor<17x2048xi32>
  return %y : tensor<17x2048xi32>
}
func.func @odd(%x: tensor<1024x2045xi8>, %w: tensor<2045x2048xi8>, %s: tensor<1024x2048xi32>) -> tensor<1024x2048xi32> {
  %y = linalg.matmul ins(%x, %w : tensor<1024x2045xi8>, tensor<2045x2048xi8>) outs(%s : tensor<1024x2048xi32>) -> tensor<1024x2048xi32>
  return %y : tensor<1024x2048xi32>
}
