// RUN: hirc-opt %s --split-input-file --normalize-tensor-operations --canonicalize --cse --fuse-tensor-operations --canonicalize --cse | FileCheck %s

// What is computed cheaply of parts of a tensor is computed where these are read: nothing between.
// Parts of parts are parts of the whole.
// CHECK-LABEL: func.func @both_axes
// CHECK-DAG:     %[[A:.*]] = tensor.extract_slice %arg0[0, 0] [%arg1, 6] [1, 1]
// CHECK-DAG:     %[[B:.*]] = tensor.extract_slice %arg0[1, 0] [%arg1, 6] [1, 1]
// CHECK-DAG:     %[[C:.*]] = tensor.extract_slice %arg0[0, 2] [%arg1, 6] [1, 1]
// CHECK-DAG:     %[[D:.*]] = tensor.extract_slice %arg0[1, 2] [%arg1, 6] [1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[A]], %[[B]], %[[C]], %[[D]] :
// CHECK-NOT:     linalg.generic
func.func @both_axes(%x: tensor<?x8xf32>, %n: index) -> tensor<?x6xf32> {
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = tensor.empty(%n) : tensor<?x6xf32>
  %x0 = tensor.extract_slice %x[0, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %x1 = tensor.extract_slice %x[1, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %s = linalg.add ins(%x0, %x1 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %p = linalg.elementwise kind=#linalg.elementwise_kind<abs> ins(%s : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %l = tensor.extract_slice %p[0, 0] [%n, 6] [1, 1] : tensor<?x8xf32> to tensor<?x6xf32>
  %r = tensor.extract_slice %p[0, 2] [%n, 6] [1, 1] : tensor<?x8xf32> to tensor<?x6xf32>
  %q = linalg.sub ins(%l, %r : tensor<?x6xf32>, tensor<?x6xf32>) outs(%f : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %q : tensor<?x6xf32>
}

// -----

// What is returned, too, is there anyway.
// CHECK-LABEL: func.func @returned
// CHECK:         %[[P:.*]] = linalg.generic
// CHECK:         tensor.extract_slice %[[P]]
// CHECK:         linalg.generic
func.func @returned(%x: tensor<8xf32>) -> (tensor<6xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<6xf32>
  %p = linalg.abs ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %l = tensor.extract_slice %p[0] [6] [1] : tensor<8xf32> to tensor<6xf32>
  %r = tensor.extract_slice %p[2] [6] [1] : tensor<8xf32> to tensor<6xf32>
  %q = linalg.sub ins(%l, %r : tensor<6xf32>, tensor<6xf32>) outs(%f : tensor<6xf32>) -> tensor<6xf32>
  return %q, %p : tensor<6xf32>, tensor<8xf32>
}

// -----

// So is what a part with steps is of, what is no cheap work, what would be read too often, and what
// parts of different sizes are of.
// CHECK-LABEL: func.func @steps
// CHECK-COUNT-2: linalg.generic
func.func @steps(%x: tensor<8xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<3xf32>
  %p = linalg.abs ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %l = tensor.extract_slice %p[0] [3] [2] : tensor<8xf32> to tensor<3xf32>
  %r = tensor.extract_slice %p[1] [3] [1] : tensor<8xf32> to tensor<3xf32>
  %q = linalg.sub ins(%l, %r : tensor<3xf32>, tensor<3xf32>) outs(%f : tensor<3xf32>) -> tensor<3xf32>
  return %q : tensor<3xf32>
}

// CHECK-LABEL: func.func @divided
// CHECK-COUNT-2: linalg.generic
func.func @divided(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<6xf32>
  %p = linalg.div ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %l = tensor.extract_slice %p[0] [6] [1] : tensor<8xf32> to tensor<6xf32>
  %r = tensor.extract_slice %p[2] [6] [1] : tensor<8xf32> to tensor<6xf32>
  %q = linalg.sub ins(%l, %r : tensor<6xf32>, tensor<6xf32>) outs(%f : tensor<6xf32>) -> tensor<6xf32>
  return %q : tensor<6xf32>
}

// CHECK-LABEL: func.func @many
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @many(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<4xf32>
  %p = linalg.add ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %a = tensor.extract_slice %p[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %b = tensor.extract_slice %p[1] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %c = tensor.extract_slice %p[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %d = tensor.extract_slice %p[3] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %g = tensor.extract_slice %p[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %q = linalg.sub ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.mul ins(%c, %d : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.add ins(%q, %r : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %t = linalg.add ins(%s, %g : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %t : tensor<4xf32>
}

// CHECK-LABEL: func.func @apart
// CHECK-COUNT-3: linalg.generic
func.func @apart(%x: tensor<8xf32>) -> (tensor<6xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<6xf32>
  %g = tensor.empty() : tensor<3xf32>
  %p = linalg.abs ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %l = tensor.extract_slice %p[0] [6] [1] : tensor<8xf32> to tensor<6xf32>
  %r = tensor.extract_slice %p[2] [3] [1] : tensor<8xf32> to tensor<3xf32>
  %q = linalg.exp ins(%l : tensor<6xf32>) outs(%f : tensor<6xf32>) -> tensor<6xf32>
  %s = linalg.exp ins(%r : tensor<3xf32>) outs(%g : tensor<3xf32>) -> tensor<3xf32>
  return %q, %s : tensor<6xf32>, tensor<3xf32>
}
