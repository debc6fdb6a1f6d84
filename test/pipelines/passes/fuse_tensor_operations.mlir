// RUN: hirc-opt %s --split-input-file --normalize-tensor-operations --canonicalize --cse --fuse-tensor-operations --canonicalize --cse | FileCheck %s

// A normalization with everything around it is one operation, with loops whose sizes are open.
// CHECK-LABEL: func.func @normalize
func.func @normalize(%x: tensor<?x?xf32>, %w: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %er = tensor.empty(%m) : tensor<?xf32>
  // CHECK:      linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
  // CHECK-SAME:   ins(%arg0, %arg1 : tensor<?x?xf32>, tensor<?xf32>) outs(%{{.*}} : tensor<?x?xf32>)
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[W:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT:   %[[S:.*]] = arith.mulf %[[X]], %[[X]]
  // CHECK-NEXT:   %[[R:.*]] = "hir.reduce_loops"(%[[S]]) {kind = "addf", loops = array<i64: 1>}
  // CHECK-NEXT:   %[[Q:.*]] = math.rsqrt %[[R]]
  // CHECK-NEXT:   %[[P:.*]] = arith.mulf %[[X]], %[[Q]]
  // CHECK-NEXT:   %[[Y:.*]] = arith.mulf %[[P]], %[[W]]
  // CHECK-NEXT:   linalg.yield %[[Y]]
  // CHECK-NOT:  linalg.generic
  %s = linalg.square ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce {arith.addf} ins(%s : tensor<?x?xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  %q = linalg.rsqrt ins(%r : tensor<?xf32>) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %b = linalg.broadcast ins(%q : tensor<?xf32>) outs(%e : tensor<?x?xf32>) dimensions = [1]
  %p = linalg.mul ins(%x, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = linalg.broadcast ins(%w : tensor<?xf32>) outs(%e : tensor<?x?xf32>) dimensions = [0]
  %y = linalg.mul ins(%p, %c : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// One producer of two results that both leave, and a transpose that is a way of reading.
// CHECK: #[[TURNED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @diamond
func.func @diamond(%x: tensor<4x8xf32>, %t: tensor<8x4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  // CHECK:      linalg.generic {indexing_maps = [#{{.*}}, #[[TURNED]], #{{.*}}, #{{.*}}]
  // CHECK-SAME:   ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x4xf32>)
  // CHECK-SAME:   outs(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xf32>)
  // CHECK:        math.exp
  // CHECK-NOT:  linalg.generic
  %a = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = linalg.transpose ins(%t : tensor<8x4xf32>) outs(%e : tensor<4x8xf32>) permutation = [1, 0]
  %p = linalg.add ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = linalg.mul ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %p, %q : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// What reads the same tensor alike is one operation, even if neither reads the other.
// CHECK-LABEL: func.func @siblings
func.func @siblings(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  // CHECK:     "hir.reduce_loops"(%{{.*}}) {kind = "addf"
  // CHECK:     "hir.reduce_loops"(%{{.*}}) {kind = "mulf"
  // CHECK-NOT: linalg.generic
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<4x8xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  %o = linalg.fill ins(%one : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %p = linalg.reduce {arith.mulf} ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>) dimensions = [1]
  return %s, %p : tensor<4xf32>, tensor<4xf32>
}

// -----

// Loops are one only where their extents are known to be the same: here an assertion says so.
// CHECK-LABEL: func.func @asserted
func.func @asserted(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %m, %n : index
  cf.assert %same, "sizes differ"
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  // CHECK:     ins(%arg0, %arg1 : tensor<?xf32>, tensor<?xf32>)
  // CHECK-NOT: linalg.generic
  %a = linalg.reduce {arith.addf} ins(%x : tensor<?xf32>) outs(%z : tensor<f32>) dimensions = [0]
  %b = linalg.reduce {arith.addf} ins(%y : tensor<?xf32>) outs(%z : tensor<f32>) dimensions = [0]
  %c = linalg.add ins(%a, %b : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  return %c : tensor<f32>
}

// -----

// Nothing says that these sizes are the same: the second sum reads its own tensor.
// CHECK-LABEL: func.func @open
func.func @open(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  // CHECK:     linalg.generic {{.*}} ins(%arg{{.}} : tensor<?xf32>)
  // CHECK:     linalg.generic {{.*}} ins(%arg{{.}}, %{{.*}} : tensor<?xf32>, tensor<f32>)
  // CHECK-NOT: linalg.generic
  %a = linalg.reduce {arith.addf} ins(%x : tensor<?xf32>) outs(%z : tensor<f32>) dimensions = [0]
  %b = linalg.reduce {arith.addf} ins(%y : tensor<?xf32>) outs(%z : tensor<f32>) dimensions = [0]
  %c = linalg.add ins(%a, %b : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  return %c : tensor<f32>
}

// -----

// The product needs the exponentials and makes what is added: neither side of it joins the other.
// CHECK-LABEL: func.func @around_a_product
func.func @around_a_product(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  // CHECK: linalg.generic
  // CHECK: math.exp
  // CHECK: linalg.matmul
  // CHECK: linalg.generic
  // CHECK: arith.addf
  %a = linalg.exp ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%a, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.add ins(%a, %p : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// An exponential of few elements is not computed again for many; a product is.
#id = affine_map<(r, c) -> (r, c)>
#columns = affine_map<(r, c) -> (c)>
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %f = tensor.empty() : tensor<8xf32>
  // CHECK: %[[SMALL:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<8xf32>)
  // CHECK: math.exp
  // CHECK: linalg.generic {{.*}} ins(%arg1, %arg0, %[[SMALL]] : tensor<8xf32>, tensor<4x8xf32>, tensor<8xf32>)
  // CHECK-NOT: linalg.generic
  %a = linalg.exp ins(%w : tensor<8xf32>) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.square ins(%w : tensor<8xf32>) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %a : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %i, %j : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %q = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.subf %i, %j : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %p, %q : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Elements that are only read at computed places are computed there: no table of them is made.
#id = affine_map<(c) -> (c)>
// CHECK-LABEL: func.func @gathered
func.func @gathered(%x: tensor<9x8xf32>, %m: tensor<9xf32>, %places: tensor<9xindex>) -> tensor<9xf32> {
  %e = tensor.empty() : tensor<9x8xf32>
  %f = tensor.empty() : tensor<9xf32>
  // CHECK:      ins(%arg2, %arg1 : tensor<9xindex>, tensor<9xf32>)
  // CHECK-NEXT: ^bb0(%[[PLACE:.*]]: index, %[[M:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT:   %[[ROW:.*]] = linalg.index 0
  // CHECK-NEXT:   %[[X:.*]] = tensor.extract %arg0[%[[ROW]], %[[PLACE]]]
  // CHECK-NEXT:   arith.subf %[[X]], %[[M]]
  // CHECK-NOT:  linalg.generic
  %b = linalg.broadcast ins(%m : tensor<9xf32>) outs(%e : tensor<9x8xf32>) dimensions = [1]
  %d = linalg.sub ins(%x, %b : tensor<9x8xf32>, tensor<9x8xf32>) outs(%e : tensor<9x8xf32>) -> tensor<9x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%places : tensor<9xindex>) outs(%f : tensor<9xf32>) {
  ^bb0(%place: index, %o: f32):
    %row = linalg.index 0 : index
    %y = tensor.extract %d[%row, %place] : tensor<9x8xf32>
    linalg.yield %y : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}

// -----

// Not what is made of two exponentials: a table of each would have to be there in place of one. Where
// one is of an argument itself, there is one table in either case.
#id = affine_map<(r, c) -> (r, c)>
#columns = affine_map<(r, c) -> (c)>
// CHECK-LABEL: func.func @gathered_of_two_exponentials
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK:           arith.addf
// CHECK:         linalg.generic {{.*}} ins(%arg2 : tensor<16xindex>)
// CHECK:           tensor.extract %[[SUM]]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @gathered_of_two_exponentials(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %places: tensor<16xindex>) -> tensor<4x16xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %f = tensor.empty() : tensor<4x16xf32>
  %a = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = linalg.exp ins(%y : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = linalg.add ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%places : tensor<16xindex>) outs(%f : tensor<4x16xf32>) {
  ^bb0(%place: index, %o: f32):
    %row = linalg.index 0 : index
    %v = tensor.extract %d[%row, %place] : tensor<4x8xf32>
    linalg.yield %v : f32
  } -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// CHECK-LABEL: func.func @gathered_of_one_exponential
// CHECK:         %[[TABLE:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x8xf32>)
// CHECK:         linalg.generic {{.*}} ins(%arg2 : tensor<16xindex>)
// CHECK:           tensor.extract %[[TABLE]]
// CHECK:           tensor.extract %arg1
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @gathered_of_one_exponential(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %places: tensor<16xindex>) -> tensor<4x16xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %f = tensor.empty() : tensor<4x16xf32>
  %a = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = linalg.add ins(%a, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%places : tensor<16xindex>) outs(%f : tensor<4x16xf32>) {
  ^bb0(%place: index, %o: f32):
    %row = linalg.index 0 : index
    %v = tensor.extract %d[%row, %place] : tensor<4x8xf32>
    linalg.yield %v : f32
  } -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

// What makes two results is computed where one of them is read, for that one.
#id = affine_map<(c) -> (c)>
#rows = affine_map<(r, c) -> (c)>
#table = affine_map<(r, c) -> (r, c)>
// CHECK-LABEL: func.func @gathered_of_two
func.func @gathered_of_two(%x: tensor<9xf32>, %places: tensor<9xindex>) -> (tensor<9xf32>, tensor<9xf32>) {
  %e = tensor.empty() : tensor<8x9xf32>
  %f = tensor.empty() : tensor<9xf32>
  // CHECK:   %[[X:.*]] = tensor.extract %arg0[
  // CHECK:   %[[NEG:.*]] = arith.negf %[[X]]
  // CHECK:   linalg.yield %[[NEG]] : f32
  %two:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
    ins(%x : tensor<9xf32>) outs(%f, %f : tensor<9xf32>, tensor<9xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %b = arith.addf %a, %a : f32
    %c = arith.negf %a : f32
    linalg.yield %b, %c : f32, f32
  } -> (tensor<9xf32>, tensor<9xf32>)
  %d = linalg.generic {indexing_maps = [#rows, #table], iterator_types = ["parallel", "parallel"]}
    ins(%two#1 : tensor<9xf32>) outs(%e : tensor<8x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x9xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%places : tensor<9xindex>) outs(%f : tensor<9xf32>) {
  ^bb0(%place: index, %o: f32):
    %c0 = arith.constant 0 : index
    %y = tensor.extract %d[%c0, %place] : tensor<8x9xf32>
    linalg.yield %y : f32
  } -> tensor<9xf32>
  return %r, %two#0 : tensor<9xf32>, tensor<9xf32>
}

// -----

// Integers are not divided where there may be no element: the quotient would be undefined.
#id = affine_map<(c) -> (c)>
// CHECK-LABEL: func.func @ceiling_where_read
func.func @ceiling_where_read(%x: tensor<8xi32>, %y: tensor<8xi32>, %places: tensor<9xindex>) -> tensor<9xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %f = tensor.empty() : tensor<9xi32>
  // CHECK:      %[[D:.*]] = linalg.generic
  // CHECK:        arith.ceildivui
  // CHECK:      linalg.generic
  // CHECK:        tensor.extract %[[D]]
  %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %q = arith.ceildivui %a, %b : i32
    linalg.yield %q : i32
  } -> tensor<8xi32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%places : tensor<9xindex>) outs(%f : tensor<9xi32>) {
  ^bb0(%place: index, %o: i32):
    %zero = arith.constant 0 : i32
    %c8 = arith.constant 8 : index
    %in = arith.cmpi ult, %place, %c8 : index
    %y1 = scf.if %in -> i32 {
      %v = tensor.extract %d[%place] : tensor<8xi32>
      scf.yield %v : i32
    } else {
      scf.yield %zero : i32
    }
    linalg.yield %y1 : i32
  } -> tensor<9xi32>
  return %r : tensor<9xi32>
}

// -----

// Integers are not divided where there may be no element: the quotient would be undefined.
#id = affine_map<(c) -> (c)>
// CHECK-LABEL: func.func @remainder_where_read
func.func @remainder_where_read(%x: tensor<8xi32>, %y: tensor<8xi32>, %places: tensor<9xindex>) -> tensor<9xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %f = tensor.empty() : tensor<9xi32>
  // CHECK:      %[[D:.*]] = linalg.generic
  // CHECK:        arith.remui
  // CHECK:      linalg.generic
  // CHECK:        tensor.extract %[[D]]
  %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %q = arith.remui %a, %b : i32
    linalg.yield %q : i32
  } -> tensor<8xi32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%places : tensor<9xindex>) outs(%f : tensor<9xi32>) {
  ^bb0(%place: index, %o: i32):
    %zero = arith.constant 0 : i32
    %c8 = arith.constant 8 : index
    %in = arith.cmpi ult, %place, %c8 : index
    %y1 = scf.if %in -> i32 {
      %v = tensor.extract %d[%place] : tensor<8xi32>
      scf.yield %v : i32
    } else {
      scf.yield %zero : i32
    }
    linalg.yield %y1 : i32
  } -> tensor<9xi32>
  return %r : tensor<9xi32>
}

// -----

// A cast is done in both kernels that need it: its result would be more to write and to read.
#id = affine_map<(r, c) -> (r, c)>
// CHECK-LABEL: func.func @cast
func.func @cast(%x: tensor<4x8xbf16>, %y: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = tensor.empty() : tensor<4xf32>
  %g = tensor.empty() : tensor<8xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %zc = linalg.fill ins(%zero : f32) outs(%g : tensor<8xf32>) -> tensor<8xf32>
  // CHECK:     linalg.generic {{.*}} ins(%arg0 : tensor<4x8xbf16>) outs(%{{.*}} : tensor<4xf32>)
  // CHECK:     linalg.generic {{.*}} ins(%arg0 : tensor<4x8xbf16>) outs(%{{.*}} : tensor<8xf32>)
  // CHECK-NOT: linalg.generic
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<4x8xbf16>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %b = arith.extf %a : bf16 to f32
    linalg.yield %b : f32
  } -> tensor<4x8xf32>
  %r = linalg.reduce {arith.addf} ins(%w : tensor<4x8xf32>) outs(%zr : tensor<4xf32>) dimensions = [1]
  %c = linalg.reduce {arith.addf} ins(%w : tensor<4x8xf32>) outs(%zc : tensor<8xf32>) dimensions = [0]
  return %r, %c : tensor<4xf32>, tensor<8xf32>
}

// -----

// A reduction is never done again for each element of another loop.
#id = affine_map<(r, c) -> (r, c)>
#none = affine_map<(r, c) -> ()>
// CHECK-LABEL: func.func @sum_for_many
func.func @sum_for_many(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<f32>) -> tensor<f32>
  // CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<8xf32>) outs(%{{.*}} : tensor<f32>)
  // CHECK: linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<4x8xf32>, tensor<f32>)
  %s = linalg.reduce {arith.addf} ins(%w : tensor<8xf32>) outs(%z : tensor<f32>) dimensions = [0]
  %y = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %s : tensor<4x8xf32>, tensor<f32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.mulf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// What an output begins as, where that goes into the same operation.
// CHECK-LABEL: func.func @begun
func.func @begun(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<8xf32>
  // CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<8xf32>) outs(%[[E]], %[[E]] :
  // CHECK-NOT: linalg.generic
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %c = arith.constant true
  %s = scf.if %c -> tensor<8xf32> {
    scf.yield %y : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  %z = linalg.abs ins(%s : tensor<8xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// -----

// What is returned in another shape is made in that, where dims of size 1 differ, of open sizes too.

// CHECK-LABEL: func.func @returned(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<4x?xf32>
// CHECK-DAG:     %[[E:.*]] = tensor.empty() : tensor<1x4xf32>
// CHECK-DAG:     %[[F:.*]] = tensor.empty(%{{.*}}) : tensor<4x1x?xf32>
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%[[E]], %[[F]] : tensor<1x4xf32>, tensor<4x1x?xf32>)
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return
func.func @returned(%x: tensor<4x?xf32>) -> (tensor<1x4xf32>, tensor<4x1x?xf32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c1 : tensor<4x?xf32>
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<4x?xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  %w = tensor.empty(%d) : tensor<4x?xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4x?xf32>, tensor<4xf32>) outs(%w : tensor<4x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.subf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<4x?xf32>
  %r = tensor.expand_shape %s [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %t = tensor.expand_shape %y [[0], [1, 2]] output_shape [4, 1, %d] : tensor<4x?xf32> into tensor<4x1x?xf32>
  return %r, %t : tensor<1x4xf32>, tensor<4x1x?xf32>
}

// -----

// Where dims not of size 1 are split or collapsed, what is written is a view of memory in the shape that
// is returned.

// CHECK-LABEL: func.func @split_result(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32>)
// CHECK:         %[[N:.*]] = arith.divui %{{.*}}, %c8
// CHECK-DAG:     %[[WHOLE:.*]] = tensor.empty(%[[N]]) : tensor<?x8x4xf32>
// CHECK-DAG:     %[[C:.*]] = tensor.collapse_shape %[[WHOLE]] {{\[\[}}0, 1], [2]] : tensor<?x8x4xf32> into tensor<?x4xf32>
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} outs(%[[C]] : tensor<?x4xf32>)
// CHECK:         %[[R:.*]] = tensor.expand_shape %[[Y]]
// CHECK:         return %[[R]]
func.func @split_result(%x: tensor<?x4xf32>) -> tensor<?x8x4xf32> {
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.negf %a : f32
    linalg.yield %q : f32
  } -> tensor<?x4xf32>
  %n = arith.divui %m, %c8 : index
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [%n, 8, 4] : tensor<?x4xf32> into tensor<?x8x4xf32>
  return %r : tensor<?x8x4xf32>
}

// CHECK-LABEL: func.func @collapsed_result(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x8xf32>)
// CHECK-DAG:     %[[M:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG:     %[[N:.*]] = tensor.dim %[[X]], %c1
// CHECK:         %[[NEW:.*]] = arith.muli %[[N]], %c8
// CHECK:         %[[WHOLE:.*]] = tensor.empty(%[[M]], %[[NEW]]) : tensor<?x?xf32>
// CHECK:         %[[C:.*]] = tensor.expand_shape %[[WHOLE]] {{\[\[}}0], [1, 2]] output_shape [%[[M]], %[[N]], 8] : tensor<?x?xf32> into tensor<?x?x8xf32>
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} outs(%[[C]] : tensor<?x?x8xf32>)
// CHECK:         %[[R:.*]] = tensor.collapse_shape %[[Y]]
// CHECK:         return %[[R]]
func.func @collapsed_result(%x: tensor<?x?x8xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x?x8xf32>) outs(%e : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.negf %a : f32
    linalg.yield %q : f32
  } -> tensor<?x?x8xf32>
  %r = tensor.collapse_shape %y [[0], [1, 2]] : tensor<?x?x8xf32> into tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// After dims of size 1 are dropped, too.

// CHECK-LABEL: func.func @split_without_units(
// CHECK:         %[[WHOLE:.*]] = tensor.empty() : tensor<4x8x4xf32>
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[WHOLE]] {{\[\[}}0, 1], [2]] : tensor<4x8x4xf32> into tensor<32x4xf32>
// CHECK:         linalg.generic {{.*}} outs(%[[C]] : tensor<32x4xf32>)
func.func @split_without_units(%x: tensor<1x32x4xf32>) -> tensor<4x8x4xf32> {
  %e = tensor.empty() : tensor<1x32x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x32x4xf32>) outs(%e : tensor<1x32x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.negf %a : f32
    linalg.yield %q : f32
  } -> tensor<1x32x4xf32>
  %c = tensor.collapse_shape %y [[0, 1], [2]] : tensor<1x32x4xf32> into tensor<32x4xf32>
  %r = tensor.expand_shape %c [[0, 1], [2]] output_shape [4, 8, 4] : tensor<32x4xf32> into tensor<4x8x4xf32>
  return %r : tensor<4x8x4xf32>
}

// Not of sizes whose computation might fail before, nor where something else reads the result.

// CHECK-LABEL: func.func @split_later(
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         return
func.func @split_later(%x: tensor<?x4xf32>, %z: tensor<32xf32>, %k: index) -> (tensor<?x8x4xf32>, tensor<8x4xf32>, tensor<32xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.negf %a : f32
    linalg.yield %q : f32
  } -> tensor<?x4xf32>
  %n = arith.divui %m, %k : index
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [%n, 8, 4] : tensor<?x4xf32> into tensor<?x8x4xf32>
  %ez = tensor.empty() : tensor<32xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%z : tensor<32xf32>) outs(%ez : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.negf %a : f32
    linalg.yield %q : f32
  } -> tensor<32xf32>
  %v = tensor.expand_shape %w [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  return %r, %v, %w : tensor<?x8x4xf32>, tensor<8x4xf32>, tensor<32xf32>
}

// -----

// Not where the other shape splits a dim, or more than that is used.

// CHECK-LABEL: func.func @not_returned(
// CHECK-COUNT-2: tensor.expand_shape
func.func @not_returned(%x: tensor<8xf32>) -> (tensor<2x4xf32>, tensor<1x8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.negf %a : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = math.absf %a : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %r = tensor.expand_shape %y [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %t = tensor.expand_shape %z [[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
  return %r, %t, %z : tensor<2x4xf32>, tensor<1x8xf32>, tensor<8xf32>
}

// -----

// Nor what a convolution's kernel may take in, as it is.

// CHECK-LABEL: func.func @after_a_convolution(
// CHECK:         linalg.conv_2d_nchw_fchw
// CHECK:         tensor.collapse_shape
// CHECK-NEXT:    return
func.func @after_a_convolution(%x: tensor<2x4x1x16xf32>, %k: tensor<8x4x1x3xf32>) -> tensor<2x8x14xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x1x14xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x1x14xf32>) -> tensor<2x8x1x14xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %k : tensor<2x4x1x16xf32>, tensor<8x4x1x3xf32>) outs(%z : tensor<2x8x1x14xf32>) -> tensor<2x8x1x14xf32>
  %t = math.tanh %y : tensor<2x8x1x14xf32>
  %r = tensor.collapse_shape %t [[0], [1], [2, 3]] : tensor<2x8x1x14xf32> into tensor<2x8x14xf32>
  return %r : tensor<2x8x14xf32>
}

// -----

// What reads a transposed tensor in two kernels reads what was transposed in both, where that moves
// less memory: a sum of squares goes over it in its order.

// CHECK-LABEL: func.func @reordered_apart(
// CHECK-SAME:    %[[X:.*]]: tensor<?x128xf64>)
// CHECK:         %[[S:.*]] = linalg.generic {{.*}}["reduction", "reduction"]} ins(%[[X]] : {{.*}}) outs(%{{.*}} : tensor<f64>)
// CHECK:           arith.mulf
// CHECK:         linalg.generic {{.*}}["parallel", "parallel"]} ins(%[[X]], %[[S]] : {{.*}}) outs(%{{.*}} : tensor<128x?xf64>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.divf
// CHECK-NOT:     linalg.generic
func.func @reordered_apart(%x: tensor<?x128xf64>) -> tensor<128x?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %x, %c0 : tensor<?x128xf64>
  %e = tensor.empty(%n) : tensor<128x?xf64>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x128xf64>) outs(%e : tensor<128x?xf64>) {
  ^bb0(%a: f64, %o: f64):
    linalg.yield %a : f64
  } -> tensor<128x?xf64>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<128x?xf64>) outs(%e : tensor<128x?xf64>) {
  ^bb0(%a: f64, %o: f64):
    %p = arith.mulf %a, %a : f64
    linalg.yield %p : f64
  } -> tensor<128x?xf64>
  %es = tensor.empty() : tensor<f64>
  %z = linalg.fill ins(%zero : f64) outs(%es : tensor<f64>) -> tensor<f64>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%m : tensor<128x?xf64>) outs(%z : tensor<f64>) {
  ^bb0(%a: f64, %o: f64):
    %r = arith.addf %o, %a : f64
    linalg.yield %r : f64
  } -> tensor<f64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t, %s : tensor<128x?xf64>, tensor<f64>) outs(%e : tensor<128x?xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %q = arith.divf %a, %b : f64
    linalg.yield %q : f64
  } -> tensor<128x?xf64>
  return %y : tensor<128x?xf64>
}

// -----

// Not where there would be more to read: exponentials of it are written, and read again.

// CHECK-LABEL: func.func @reordered_once(
// CHECK-SAME:    %[[X:.*]]: tensor<64x128xf32>)
// CHECK:         %[[T:.*]] = linalg.generic {{.*}}["parallel", "parallel"]} ins(%[[X]] : {{.*}}) outs(%{{.*}} : tensor<128x64xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      linalg.yield
// CHECK:         linalg.generic {{.*}} ins(%[[T]] : tensor<128x64xf32>)
// CHECK:           maximumf
// CHECK:           math.exp
// CHECK:           addf
// CHECK:           arith.divf
// CHECK-NOT:     linalg.generic
func.func @reordered_once(%x: tensor<64x128xf32>) -> tensor<128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<128x64xf32>
  %es = tensor.empty() : tensor<128xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x128xf32>) outs(%e : tensor<128x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<128x64xf32>
  %zm = linalg.fill ins(%least : f32) outs(%es : tensor<128xf32>) -> tensor<128xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%t : tensor<128x64xf32>) outs(%zm : tensor<128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<128xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t, %m : tensor<128x64xf32>, tensor<128xf32>) outs(%e : tensor<128x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<128x64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<128xf32>) -> tensor<128xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<128x64xf32>) outs(%zs : tensor<128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<128xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<128x64xf32>, tensor<128xf32>) outs(%e : tensor<128x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<128x64xf32>
  return %y : tensor<128x64xf32>
}

// -----

// What reads nothing is no transpose, though it writes two results, of which one lies across.

// CHECK-LABEL: func.func @two_results_of_nothing(
// CHECK:         linalg.index
// CHECK:         linalg.yield %{{.*}}, %{{.*}} : i64, i64
func.func @two_results_of_nothing() -> (tensor<6x12xi64>, tensor<6x6xi64>) {
  %empty = tensor.empty() : tensor<6x6xi64>
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
      outs(%empty, %empty : tensor<6x6xi64>, tensor<6x6xi64>) {
  ^bb0(%a: i64, %b: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %m = arith.muli %n, %n : i64
    linalg.yield %n, %m : i64, i64
  } -> (tensor<6x6xi64>, tensor<6x6xi64>)
  %y = tensor.concat dim(1) %0#0, %0#1 : (tensor<6x6xi64>, tensor<6x6xi64>) -> tensor<6x12xi64>
  return %y, %0#0 : tensor<6x12xi64>, tensor<6x6xi64>
}
