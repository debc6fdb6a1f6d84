// RUN: sed 's/ASKED/, hir.configuration = {family = "few_rows", lanes = 64, unroll = 4}/' %s > %t.given.mlir
// RUN: sed 's/ASKED/, hir.configuration = {family = "few_rows", rows = 5}/' %s > %t.rows.mlir
// RUN: sed 's/ASKED/, hir.configuration = {family = "few_rows", across = 2}/' %s > %t.across.mlir
// RUN: sed 's/ASKED/, hir.configuration = {family = "few_rows", columns = 32}/' %s > %t.sums.mlir
// RUN: sed 's/ASKED//' %s > %t.mlir
// RUN: hirc %t.mlir --offload-arch=sm_90a --stop-after=schedules --emit=shared -o - | FileCheck %s
// RUN: hirc %t.given.mlir --offload-arch=sm_90 --stop-after=schedules --emit=shared -o - | FileCheck %s --check-prefix=GIVEN
// RUN: not hirc %t.rows.mlir --offload-arch=sm_90 --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not hirc %t.across.mlir --offload-arch=sm_90 --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=ACROSS
// RUN: not hirc %t.sums.mlir --offload-arch=sm_90 --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=SUMS

// Four rows times a weight whose bytes are scaled: it is read once, in vectors, and nothing calls the
// library. Nine rows, a row that depends on no term, and few columns are for other kernels.

// CHECK-NOT:  library_matmul
// CHECK:      gpu.func @{{.*}}family = "few_rows"{{.*}}rows = 4
// CHECK:        nvvm.griddepcontrol
// CHECK:        "prefetch.global.L2 [$0];"
// CHECK:        nvvm.griddepcontrol
// CHECK:        llvm.load {{.*}}vector<16xi8>
// CHECK-NOT:    scf.for
// CHECK-NOT:    llvm.load {{.*}}vector<16xi8>
// CHECK:        gpu.shuffle
// CHECK:        gpu.barrier
// CHECK-NOT:  family = "few_rows"

// GIVEN:  lanes = 64 : i64{{.*}}unroll = 4
// ROWS:   error: hir.configuration: 'rows' are 4; without it the compiler chooses
// ACROSS: error: hir.configuration: 'across' is 1 along terms, and up to 32 along columns; without it
// SUMS:   error: hir.configuration: a thread has registers for 64 sums, of 'rows' times 'columns'; without it

#rows = affine_map<(m, n, k) -> (m, k)>
#weight = affine_map<(m, n, k) -> (n, k)>
#scales = affine_map<(m, n, k) -> (n)>
#sums = affine_map<(m, n, k) -> (m, n)>
"hir.program"() ({
^bb0(%x: memref<4x512xf32>, %w: memref<1024x512xi8>, %s: memref<1024xf32>, %y: memref<4x1024xf32>):
  linalg.generic {indexing_maps = [#rows, #weight, #scales, #sums],
                  iterator_types = ["parallel", "parallel", "reduction"]ASKED}
    ins(%x, %w, %s : memref<4x512xf32>, memref<1024x512xi8>, memref<1024xf32>)
    outs(%y : memref<4x1024xf32>) {
  ^bb0(%a: f32, %b: i8, %c: f32, %o: f32):
    %f = arith.sitofp %b : i8 to f32
    %g = arith.mulf %f, %c : f32
    %p = arith.mulf %a, %g : f32
    %t = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %t : f32
  }
}) {sym_name = "few", function_type = (memref<4x512xf32>, memref<1024x512xi8>, memref<1024xf32>, memref<4x1024xf32>) -> ()} : () -> ()
"hir.program"() ({
^bb0(%x: memref<9x512xbf16>, %w: memref<1024x512xbf16>, %y: memref<9x1024xf32>):
  linalg.generic {indexing_maps = [#rows, #weight, #sums],
                  iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : memref<9x512xbf16>, memref<1024x512xbf16>) outs(%y : memref<9x1024xf32>)
    attrs = {hir.tiles} {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %p = arith.mulf %c, %d : f32
    %t = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %t : f32
  }
}) {sym_name = "many", function_type = (memref<9x512xbf16>, memref<1024x512xbf16>, memref<9x1024xf32>) -> ()} : () -> ()
"hir.program"() ({
^bb0(%x: memref<512xf32>, %w: memref<1024x512xf32>, %y: memref<4x1024xf32>):
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k)>, #weight, #sums],
                  iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : memref<512xf32>, memref<1024x512xf32>) outs(%y : memref<4x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = "hir.reduce_loops"(%p) {kind = "addf", loops = array<i64: 2>} : (f32) -> f32
    linalg.yield %t : f32
  }
}) {sym_name = "same", function_type = (memref<512xf32>, memref<1024x512xf32>, memref<4x1024xf32>) -> ()} : () -> ()
