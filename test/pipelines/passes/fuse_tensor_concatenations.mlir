// RUN: hirc-opt %s --split-input-file -p func.func'(convert-elementwise-to-linalg,canonicalize,cse)',convert-concat-to-linalg'{to-fuse=true}',func.func'(canonicalize,cse)',normalize-tensor-operations,func.func'(canonicalize,cse)',fuse-tensor-operations,func.func'(canonicalize,cse)' | FileCheck %s

// Pairs of elements are turned by one kernel: what is concatenated is read, with its sign, where the
// tensor before the transpose has it, as is what is multiplied as it is.

// CHECK-LABEL: func.func @rotated(
// CHECK-SAME:    %[[X:.*]]: tensor<2x5x3x32xf32>,
// CHECK-COUNT-1: linalg.generic
// CHECK-DAG:     %[[B:.*]] = linalg.index 0
// CHECK-DAG:     %[[H:.*]] = linalg.index 1
// CHECK-DAG:     %[[T:.*]] = linalg.index 2
// CHECK-DAG:     %[[D:.*]] = linalg.index 3
// CHECK:         %[[BEFORE:.*]] = arith.subi %[[D]], %c16
// CHECK:         %[[FIRST:.*]] = scf.if
// CHECK:           tensor.extract %[[X]][%[[B]], %[[T]], %[[H]], %[[BEFORE]]]
// CHECK:         %[[IS_SECOND:.*]] = arith.cmpi ult, %[[D]], %c16
// CHECK:         %[[AFTER:.*]] = arith.addi %[[D]], %c16
// CHECK:         %[[SECOND:.*]] = scf.if %[[IS_SECOND]]
// CHECK:           tensor.extract %[[X]][%[[B]], %[[T]], %[[H]], %[[AFTER]]]
// CHECK:         arith.negf
// CHECK:         arith.select %[[IS_SECOND]]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @rotated(%x: tensor<2x5x3x32xf32>, %sin: tensor<2x3x5x32xf32>) -> tensor<2x3x5x32xf32> {
  %e = tensor.empty() : tensor<2x3x5x32xf32>
  %h = tensor.empty() : tensor<2x3x5x16xf32>
  %t = linalg.transpose ins(%x : tensor<2x5x3x32xf32>) outs(%e : tensor<2x3x5x32xf32>) permutation = [0, 2, 1, 3]
  %first = tensor.extract_slice %t[0, 0, 0, 0] [2, 3, 5, 16] [1, 1, 1, 1] : tensor<2x3x5x32xf32> to tensor<2x3x5x16xf32>
  %second = tensor.extract_slice %t[0, 0, 0, 16] [2, 3, 5, 16] [1, 1, 1, 1] : tensor<2x3x5x32xf32> to tensor<2x3x5x16xf32>
  %n = arith.negf %second : tensor<2x3x5x16xf32>
  %z = tensor.concat dim(3) %n, %first : (tensor<2x3x5x16xf32>, tensor<2x3x5x16xf32>) -> tensor<2x3x5x32xf32>
  %b = arith.mulf %z, %sin : tensor<2x3x5x32xf32>
  %y = arith.addf %t, %b : tensor<2x3x5x32xf32>
  return %y : tensor<2x3x5x32xf32>
}

// -----

// A copy that puts columns into rows, and one that something else needs too, are read as they are.

// CHECK-LABEL: func.func @columns(
// CHECK-SAME:    %[[X:.*]]: tensor<32x8xf32>)
// CHECK:         %[[T:.*]] = linalg.generic
// CHECK:         tensor.extract %[[T]]
// CHECK:         return
func.func @columns(%x: tensor<32x8xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %e = tensor.empty() : tensor<8x32xf32>
  %t = linalg.transpose ins(%x : tensor<32x8xf32>) outs(%e : tensor<8x32xf32>) permutation = [1, 0]
  %first = tensor.extract_slice %t[0, 0] [8, 16] [1, 1] : tensor<8x32xf32> to tensor<8x16xf32>
  %second = tensor.extract_slice %t[0, 16] [8, 16] [1, 1] : tensor<8x32xf32> to tensor<8x16xf32>
  %z = tensor.concat dim(1) %second, %first : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  %y = math.exp %z : tensor<8x32xf32>
  return %y, %t : tensor<8x32xf32>, tensor<8x32xf32>
}

// -----

// Every other element is read from the part.

// CHECK-LABEL: func.func @strided(
// CHECK:         %[[S:.*]] = tensor.extract_slice %{{.*}}[0, 0] [8, 16] [1, 2]
// CHECK:         tensor.extract %[[S]]
// CHECK:         return
func.func @strided(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %a = math.absf %x : tensor<8x32xf32>
  %first = tensor.extract_slice %a[0, 0] [8, 16] [1, 2] : tensor<8x32xf32> to tensor<8x16xf32>
  %second = tensor.extract_slice %a[0, 1] [8, 16] [1, 2] : tensor<8x32xf32> to tensor<8x16xf32>
  %z = tensor.concat dim(1) %second, %first : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  %e = math.exp %z : tensor<8x32xf32>
  return %e : tensor<8x32xf32>
}

// -----

// What something else reads too, or only moves, is written by itself.

// CHECK-LABEL: func.func @read_twice(
// CHECK:         tensor.concat
func.func @read_twice(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %z = tensor.concat dim(1) %x, %y : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  %e = math.exp %z : tensor<8x32xf32>
  return %e, %z : tensor<8x32xf32>, tensor<8x32xf32>
}

// CHECK-LABEL: func.func @moved(
// CHECK:         tensor.concat
func.func @moved(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> tensor<32x8xf32> {
  %z = tensor.concat dim(1) %x, %y : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x32xf32>
  %e = tensor.empty() : tensor<32x8xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<8x32xf32>) outs(%e : tensor<32x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<32x8xf32>
  return %t : tensor<32x8xf32>
}
