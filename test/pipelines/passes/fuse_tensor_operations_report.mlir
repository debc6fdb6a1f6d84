// RUN: hirc %s --entry=f --emit=shared --offload-arch=cpu --stop-after=fusion --fusion-report -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=OUTPUT < %t

// The report names what was fused by its place in the source, and why not more.
// OUTPUT-NOT: hir.fusion_report
#id = affine_map<(r, c) -> (r, c)>
#columns = affine_map<(r, c) -> (c)>
func.func @f(%x: tensor<70x80xf32>, %w: tensor<80xf32>) -> (tensor<70x80xf32>, tensor<80xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70x80xf32>
  %f = tensor.empty() : tensor<80xf32>
  %g = tensor.empty() : tensor<70xf32>
  %h = tensor.empty() : tensor<f32>
  %a = linalg.exp ins(%w : tensor<80xf32>) outs(%f : tensor<80xf32>) -> tensor<80xf32>
  %p = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %a : tensor<70x80xf32>, tensor<80xf32>) outs(%e : tensor<70x80xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %i, %j : f32
    linalg.yield %s : f32
  } -> tensor<70x80xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%g : tensor<70xf32>) -> tensor<70xf32>
  %zc = linalg.fill ins(%zero : f32) outs(%f : tensor<80xf32>) -> tensor<80xf32>
  %r = linalg.reduce {arith.addf} ins(%p : tensor<70x80xf32>) outs(%zr : tensor<70xf32>) dimensions = [1]
  %c = linalg.reduce {arith.addf} ins(%p : tensor<70x80xf32>) outs(%zc : tensor<80xf32>) dimensions = [0]
  %b = linalg.broadcast ins(%r : tensor<70xf32>) outs(%e : tensor<70x80xf32>) dimensions = [1]
  %q = linalg.div ins(%p, %b : tensor<70x80xf32>, tensor<70x80xf32>) outs(%e : tensor<70x80xf32>) -> tensor<70x80xf32>
  return %q, %c : tensor<70x80xf32>, tensor<80xf32>
}
// CHECK:      kernel 1 at {{.*}}report.mlir:14: math.exp (14:8), arith.addf (15:8), reduction by addf (24:8); saves 2 of 3 passes over memory
// CHECK-NEXT: kernel 2 at {{.*}}report.mlir:15: arith.addf (15:8), reduction by addf (23:8), copy (25:8), arith.divf (26:8); saves 5 of 7 passes over memory
// CHECK-NEXT: not fused: math.exp at {{.*}}report.mlir:14 into arith.addf at {{.*}}report.mlir:15: reductions over different loops
