// RUN: hirc-opt %s --split-input-file -p 'widen-term-rows{chips=sm_90a}' | FileCheck %s
// RUN: hirc-opt %s --split-input-file -p 'widen-term-rows{chips=sm_80}' | FileCheck %s --check-prefix=NONE

// What computes a factor writes to wider rows, of 16 bits whether those of f32 would be rounded or not.

// CHECK-LABEL: func.func @written(
// CHECK:         %[[X:.*]] = tensor.empty() : tensor<2x9x80xbf16>
// CHECK:         %[[ROWS:.*]] = tensor.extract_slice %[[X]][0, 0, 0] [2, 9, 78] [1, 1, 1]
// CHECK:         linalg.generic {{.*}} outs(%[[ROWS]] : tensor<2x9x78xbf16>)
// CHECK:         %[[K:.*]] = tensor.empty() : tensor<40x3x80xbf16>
// CHECK:         %[[COLUMNS:.*]] = tensor.extract_slice %[[K]][0, 0, 0] [40, 3, 78] [1, 1, 1]
// CHECK:         linalg.generic {{.*}} outs(%[[COLUMNS]] : tensor<40x3x78xbf16>)
// CHECK:         hir.tiles
// NONE-NOT:      tensor<2x9x80xbf16>
func.func @written(%x: tensor<2x78x9xbf16>, %k: tensor<40x78x3xbf16>) -> tensor<2x40x9xf32> {
  %0 = tensor.empty() : tensor<2x9x78xbf16>
  %1 = linalg.generic {
    indexing_maps = [affine_map<(n, w, c) -> (n, c, w)>, affine_map<(n, w, c) -> (n, w, c)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%x : tensor<2x78x9xbf16>) outs(%0 : tensor<2x9x78xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<2x9x78xbf16>
  %2 = tensor.empty() : tensor<40x3x78xbf16>
  %3 = linalg.generic {
    indexing_maps = [affine_map<(n, w, c) -> (n, c, w)>, affine_map<(n, w, c) -> (n, w, c)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%k : tensor<40x78x3xbf16>) outs(%2 : tensor<40x3x78xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<40x3x78xbf16>
  %4 = tensor.empty() : tensor<2x40x9xf32>
  %5 = linalg.generic {
    indexing_maps = [affine_map<(n, f, w, c, j) -> (f, j, c)>, affine_map<(n, f, w, c, j) -> (n, f, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%3 : tensor<40x3x78xbf16>) outs(%4 : tensor<2x40x9xf32>) attrs = {hir.tf32, hir.tiles} {
  ^bb0(%a: bf16, %b: f32):
    %zero = arith.constant 0.0 : bf16
    %one = arith.constant 1 : index
    %nine = arith.constant 9 : index
    %n = linalg.index 0 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %j = linalg.index 4 : index
    %6 = arith.addi %w, %j : index
    %7 = arith.subi %6, %one : index
    %8 = arith.cmpi ult, %7, %nine : index
    %9 = scf.if %8 -> (bf16) {
      %e = tensor.extract %1[%n, %7, %c] : tensor<2x9x78xbf16>
      scf.yield %e : bf16
    } else {
      scf.yield %zero : bf16
    }
    %10 = arith.extf %9 : bf16 to f32
    %11 = arith.extf %a : bf16 to f32
    %12 = arith.mulf %10, %11 : f32
    %13 = "hir.reduce_loops"(%12) {kind = "addf", loops = array<i64: 3, 4>} : (f32) -> f32
    linalg.yield %13 : f32
  } -> tensor<2x40x9xf32>
  return %5 : tensor<2x40x9xf32>
}

// -----

// Inputs are copied, where that takes less time than it saves.

// CHECK-LABEL: func.func @copied(
// CHECK-SAME:    %[[X:.*]]: tensor<4096x1021xbf16>, %[[K:.*]]: tensor<2048x1021xbf16>
// CHECK:         tensor.empty() : tensor<4096x1024xbf16>
// CHECK:         linalg.generic {{.*}} ins(%[[X]] :
// CHECK:         tensor.empty() : tensor<2048x1024xbf16>
// CHECK:         linalg.generic {{.*}} ins(%[[K]] :
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     tensor<16x1024xbf16>
// CHECK:         return
func.func @copied(%x: tensor<4096x1021xbf16>, %k: tensor<2048x1021xbf16>) -> tensor<4096x2048xf32> {
  %0 = tensor.empty() : tensor<4096x2048xf32>
  %1 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %k : tensor<4096x1021xbf16>, tensor<2048x1021xbf16>) outs(%0 : tensor<4096x2048xf32>) attrs = {hir.tiles} {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %2 = arith.extf %a : bf16 to f32
    %3 = arith.extf %b : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = "hir.reduce_loops"(%4) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %5 : f32
  } -> tensor<4096x2048xf32>
  return %1 : tensor<4096x2048xf32>
}
func.func @few(%x: tensor<16x1021xbf16>, %k: tensor<2048x1021xbf16>) -> tensor<16x2048xf32> {
  %0 = tensor.empty() : tensor<16x2048xf32>
  %1 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %k : tensor<16x1021xbf16>, tensor<2048x1021xbf16>) outs(%0 : tensor<16x2048xf32>) attrs = {hir.tiles} {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %2 = arith.extf %a : bf16 to f32
    %3 = arith.extf %b : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = "hir.reduce_loops"(%4) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %5 : f32
  } -> tensor<16x2048xf32>
  return %1 : tensor<16x2048xf32>
}

// -----

// Rows that are read as a whole elsewhere stay as they are, and so do f32 that are not rounded.

// CHECK-LABEL: func.func @read(
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @read(%x: tensor<9x30xbf16>, %l: tensor<40x30xbf16>) -> (tensor<9x40xf32>, tensor<9x30xbf16>) {
  %0 = tensor.empty() : tensor<9x30xbf16>
  %1 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : tensor<9x30xbf16>) outs(%0 : tensor<9x30xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %n = arith.negf %in : bf16
    linalg.yield %n : bf16
  } -> tensor<9x30xbf16>
  %2 = tensor.empty() : tensor<9x40xf32>
  %3 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%1, %l : tensor<9x30xbf16>, tensor<40x30xbf16>) outs(%2 : tensor<9x40xf32>) attrs = {hir.tiles} {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %4 = arith.extf %a : bf16 to f32
    %5 = arith.extf %b : bf16 to f32
    %6 = arith.mulf %4, %5 : f32
    %7 = "hir.reduce_loops"(%6) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %7 : f32
  } -> tensor<9x40xf32>
  return %3, %1 : tensor<9x40xf32>, tensor<9x30xbf16>
}

// CHECK-LABEL: func.func @unrounded(
// CHECK-NOT:     tensor<4096x1024xf32>
// CHECK:         return
func.func @unrounded(%x: tensor<4096x1021xf32>, %k: tensor<2048x1021xf32>) -> tensor<4096x2048xf32> {
  %0 = tensor.empty() : tensor<4096x2048xf32>
  %1 = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %k : tensor<4096x1021xf32>, tensor<2048x1021xf32>) outs(%0 : tensor<4096x2048xf32>) attrs = {hir.tiles} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = "hir.reduce_loops"(%2) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %3 : f32
  } -> tensor<4096x2048xf32>
  return %1 : tensor<4096x2048xf32>
}

// -----

// Rows shorter than a sector, those of sizes that are not known, and of what is seen in another shape
// stay as they are; so do those of sums of three factors.

#row = affine_map<(i, j, k) -> (i, k)>
#column = affine_map<(i, j, k) -> (j, k)>
#result = affine_map<(i, j, k) -> (i, j)>
#same = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @short(
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @short(%x: tensor<4096x15xbf16>, %k: tensor<2048x15xbf16>) -> tensor<4096x2048xf32> {
  %e = tensor.empty() : tensor<4096x15xbf16>
  %n = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4096x15xbf16>) outs(%e : tensor<4096x15xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %m = arith.negf %in : bf16
    linalg.yield %m : bf16
  } -> tensor<4096x15xbf16>
  %0 = tensor.empty() : tensor<4096x2048xf32>
  %1 = linalg.generic {indexing_maps = [#row, #column, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%n, %k : tensor<4096x15xbf16>, tensor<2048x15xbf16>) outs(%0 : tensor<4096x2048xf32>) attrs = {hir.tiles} {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %2 = arith.extf %a : bf16 to f32
    %3 = arith.extf %b : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = "hir.reduce_loops"(%4) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %5 : f32
  } -> tensor<4096x2048xf32>
  return %1 : tensor<4096x2048xf32>
}

// CHECK-LABEL: func.func @open(
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @open(%x: tensor<?x1021xbf16>, %k: tensor<2048x1021xbf16>, %rows: index) -> tensor<?x2048xf32> {
  %0 = tensor.empty(%rows) : tensor<?x2048xf32>
  %1 = linalg.generic {indexing_maps = [#row, #column, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %k : tensor<?x1021xbf16>, tensor<2048x1021xbf16>) outs(%0 : tensor<?x2048xf32>) attrs = {hir.tiles} {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %2 = arith.extf %a : bf16 to f32
    %3 = arith.extf %b : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = "hir.reduce_loops"(%4) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %5 : f32
  } -> tensor<?x2048xf32>
  return %1 : tensor<?x2048xf32>
}

// A copy is read here, as what computes the rows is seen in another shape elsewhere.

// CHECK-LABEL: func.func @reshaped(
// CHECK:         %[[N:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4096x1021xbf16>)
// CHECK-NOT:       outs(%extracted
// CHECK:         tensor.empty() : tensor<4096x1024xbf16>
// CHECK:         linalg.generic {{.*}} ins(%[[N]] : tensor<4096x1021xbf16>)
// CHECK:         tensor.expand_shape %[[N]]
func.func @reshaped(%x: tensor<4096x1021xbf16>, %k: tensor<2048x1021xbf16>) -> (tensor<4096x2048xf32>, tensor<64x64x1021xbf16>) {
  %e = tensor.empty() : tensor<4096x1021xbf16>
  %n = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4096x1021xbf16>) outs(%e : tensor<4096x1021xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %m = arith.negf %in : bf16
    linalg.yield %m : bf16
  } -> tensor<4096x1021xbf16>
  %0 = tensor.empty() : tensor<4096x2048xf32>
  %1 = linalg.generic {indexing_maps = [#row, #column, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%n, %k : tensor<4096x1021xbf16>, tensor<2048x1021xbf16>) outs(%0 : tensor<4096x2048xf32>) attrs = {hir.tiles} {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %2 = arith.extf %a : bf16 to f32
    %3 = arith.extf %b : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = "hir.reduce_loops"(%4) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %5 : f32
  } -> tensor<4096x2048xf32>
  %s = tensor.expand_shape %n [[0, 1], [2]] output_shape [64, 64, 1021] : tensor<4096x1021xbf16> into tensor<64x64x1021xbf16>
  return %1, %s : tensor<4096x2048xf32>, tensor<64x64x1021xbf16>
}

// CHECK-LABEL: func.func @three(
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return
func.func @three(%x: tensor<4096x1021xbf16>, %k: tensor<2048x1021xbf16>, %w: tensor<1021xbf16>) -> tensor<4096x2048xf32> {
  %0 = tensor.empty() : tensor<4096x2048xf32>
  %1 = linalg.generic {indexing_maps = [#row, #column, affine_map<(i, j, k) -> (k)>, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %k, %w : tensor<4096x1021xbf16>, tensor<2048x1021xbf16>, tensor<1021xbf16>) outs(%0 : tensor<4096x2048xf32>) attrs = {hir.tiles} {
  ^bb0(%a: bf16, %b: bf16, %d: bf16, %c: f32):
    %2 = arith.extf %a : bf16 to f32
    %3 = arith.extf %b : bf16 to f32
    %6 = arith.extf %d : bf16 to f32
    %7 = arith.mulf %2, %6 : f32
    %4 = arith.mulf %7, %3 : f32
    %5 = "hir.reduce_loops"(%4) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %5 : f32
  } -> tensor<4096x2048xf32>
  return %1 : tensor<4096x2048xf32>
}

// -----

// A step of terms that goes beyond the end of a row takes the copy engine longer than a whole one: where
// that pays, rows get zeros up to a whole step. They are written in vectors, before the rest.

// CHECK-LABEL: func.func @whole(
// CHECK:         %[[X:.*]] = tensor.empty() : tensor<32x96x96x128xf16>
// CHECK:         %[[END:.*]] = tensor.extract_slice %[[X]][0, 0, 0, 64] [32, 96, 96, 64] [1, 1, 1, 1]
// CHECK:         %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[END]] : tensor<32x96x96x64xf16>)
// CHECK:         %[[FILLED:.*]] = tensor.insert_slice %[[ZEROS]] into %[[X]][0, 0, 0, 64]
// CHECK:         %[[ROWS:.*]] = tensor.extract_slice %[[FILLED]][0, 0, 0, 0] [32, 96, 96, 72] [1, 1, 1, 1]
// CHECK:         %[[COPY:.*]] = linalg.generic {{.*}} outs(%[[ROWS]] : tensor<32x96x96x72xf16>)
// CHECK:         %[[IMAGE:.*]] = tensor.insert_slice %[[COPY]] into %[[FILLED]][0, 0, 0, 0]
// CHECK:         %[[K:.*]] = tensor.empty() : tensor<128x3x3x128xf16>
// CHECK:         %[[WEIGHTS:.*]] = tensor.insert_slice %{{.*}} : tensor<128x3x3x72xf16> into tensor<128x3x3x128xf16>
// CHECK:         linalg.generic {{.*}} ins(%[[IMAGE]], %[[WEIGHTS]] : tensor<32x96x96x128xf16>, tensor<128x3x3x128xf16>)
// NONE-NOT:      tensor.insert_slice
func.func @whole(%x: tensor<32x72x96x96xf16>, %k: tensor<128x72x3x3xf16>) -> tensor<32x94x94x128xf32> {
  %0 = tensor.empty() : tensor<32x96x96x72xf16>
  %1 = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, c) -> (n, c, h, w)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%x : tensor<32x72x96x96xf16>) outs(%0 : tensor<32x96x96x72xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<32x96x96x72xf16>
  %2 = tensor.empty() : tensor<128x3x3x72xf16>
  %3 = linalg.generic {
    indexing_maps = [affine_map<(f, i, j, c) -> (f, c, i, j)>, affine_map<(f, i, j, c) -> (f, i, j, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%k : tensor<128x72x3x3xf16>) outs(%2 : tensor<128x3x3x72xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<128x3x3x72xf16>
  %4 = tensor.empty() : tensor<32x94x94x128xf32>
  %5 = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, f, i, j, c) -> (n, h + i, w + j, c)>,
                     affine_map<(n, h, w, f, i, j, c) -> (f, i, j, c)>,
                     affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%1, %3 : tensor<32x96x96x72xf16>, tensor<128x3x3x72xf16>) outs(%4 : tensor<32x94x94x128xf32>) attrs = {hir.tiles} {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %6 = arith.extf %a : f16 to f32
    %7 = arith.extf %b : f16 to f32
    %8 = arith.mulf %6, %7 : f32
    %9 = "hir.reduce_loops"(%8) {kind = "addf", loops = array<i64: 4, 5, 6>} : (f32) -> f32
    linalg.yield %9 : f32
  } -> tensor<32x94x94x128xf32>
  return %5 : tensor<32x94x94x128xf32>
}

// -----

// The image is a result too: its rows do not end with zeros. Rows of 64 channels are whole. Of few places
// filling takes longer than it saves.

// CHECK-LABEL: func.func @returned(
// CHECK-NOT:     linalg.fill
// CHECK-LABEL: func.func @of_whole_steps(
// CHECK-NOT:     linalg.fill
// CHECK-LABEL: func.func @few(
// CHECK-NOT:     linalg.fill
func.func @returned(%x: tensor<32x72x96x96xf16>, %k: tensor<128x72x3x3xf16>) -> (tensor<32x94x94x128xf32>, tensor<32x96x96x72xf16>) {
  %0 = tensor.empty() : tensor<32x96x96x72xf16>
  %1 = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, c) -> (n, c, h, w)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%x : tensor<32x72x96x96xf16>) outs(%0 : tensor<32x96x96x72xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<32x96x96x72xf16>
  %2 = tensor.empty() : tensor<128x3x3x72xf16>
  %3 = linalg.generic {
    indexing_maps = [affine_map<(f, i, j, c) -> (f, c, i, j)>, affine_map<(f, i, j, c) -> (f, i, j, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%k : tensor<128x72x3x3xf16>) outs(%2 : tensor<128x3x3x72xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<128x3x3x72xf16>
  %4 = tensor.empty() : tensor<32x94x94x128xf32>
  %5 = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, f, i, j, c) -> (n, h + i, w + j, c)>,
                     affine_map<(n, h, w, f, i, j, c) -> (f, i, j, c)>,
                     affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%1, %3 : tensor<32x96x96x72xf16>, tensor<128x3x3x72xf16>) outs(%4 : tensor<32x94x94x128xf32>) attrs = {hir.tiles} {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %6 = arith.extf %a : f16 to f32
    %7 = arith.extf %b : f16 to f32
    %8 = arith.mulf %6, %7 : f32
    %9 = "hir.reduce_loops"(%8) {kind = "addf", loops = array<i64: 4, 5, 6>} : (f32) -> f32
    linalg.yield %9 : f32
  } -> tensor<32x94x94x128xf32>
  return %5, %1 : tensor<32x94x94x128xf32>, tensor<32x96x96x72xf16>
}
func.func @of_whole_steps(%x: tensor<32x64x96x96xf16>, %k: tensor<128x64x3x3xf16>) -> tensor<32x94x94x128xf32> {
  %0 = tensor.empty() : tensor<32x96x96x64xf16>
  %1 = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, c) -> (n, c, h, w)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%x : tensor<32x64x96x96xf16>) outs(%0 : tensor<32x96x96x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<32x96x96x64xf16>
  %2 = tensor.empty() : tensor<128x3x3x64xf16>
  %3 = linalg.generic {
    indexing_maps = [affine_map<(f, i, j, c) -> (f, c, i, j)>, affine_map<(f, i, j, c) -> (f, i, j, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%k : tensor<128x64x3x3xf16>) outs(%2 : tensor<128x3x3x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<128x3x3x64xf16>
  %4 = tensor.empty() : tensor<32x94x94x128xf32>
  %5 = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, f, i, j, c) -> (n, h + i, w + j, c)>,
                     affine_map<(n, h, w, f, i, j, c) -> (f, i, j, c)>,
                     affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%1, %3 : tensor<32x96x96x64xf16>, tensor<128x3x3x64xf16>) outs(%4 : tensor<32x94x94x128xf32>) attrs = {hir.tiles} {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %6 = arith.extf %a : f16 to f32
    %7 = arith.extf %b : f16 to f32
    %8 = arith.mulf %6, %7 : f32
    %9 = "hir.reduce_loops"(%8) {kind = "addf", loops = array<i64: 4, 5, 6>} : (f32) -> f32
    linalg.yield %9 : f32
  } -> tensor<32x94x94x128xf32>
  return %5 : tensor<32x94x94x128xf32>
}
func.func @few(%x: tensor<1x72x12x12xf16>, %k: tensor<128x72x3x3xf16>) -> tensor<1x10x10x128xf32> {
  %0 = tensor.empty() : tensor<1x12x12x72xf16>
  %1 = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, c) -> (n, c, h, w)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%x : tensor<1x72x12x12xf16>) outs(%0 : tensor<1x12x12x72xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<1x12x12x72xf16>
  %2 = tensor.empty() : tensor<128x3x3x72xf16>
  %3 = linalg.generic {
    indexing_maps = [affine_map<(f, i, j, c) -> (f, c, i, j)>, affine_map<(f, i, j, c) -> (f, i, j, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%k : tensor<128x72x3x3xf16>) outs(%2 : tensor<128x3x3x72xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<128x3x3x72xf16>
  %4 = tensor.empty() : tensor<1x10x10x128xf32>
  %5 = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, f, i, j, c) -> (n, h + i, w + j, c)>,
                     affine_map<(n, h, w, f, i, j, c) -> (f, i, j, c)>,
                     affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
  } ins(%1, %3 : tensor<1x12x12x72xf16>, tensor<128x3x3x72xf16>) outs(%4 : tensor<1x10x10x128xf32>) attrs = {hir.tiles} {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %6 = arith.extf %a : f16 to f32
    %7 = arith.extf %b : f16 to f32
    %8 = arith.mulf %6, %7 : f32
    %9 = "hir.reduce_loops"(%8) {kind = "addf", loops = array<i64: 4, 5, 6>} : (f32) -> f32
    linalg.yield %9 : f32
  } -> tensor<1x10x10x128xf32>
  return %5 : tensor<1x10x10x128xf32>
}
