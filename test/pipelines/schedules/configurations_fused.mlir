// RUN: sed 's/ONE/width = 2/; s/, hir.configuration = OTHER//' %s > %t.one.mlir
// RUN: hirc %t.one.mlir --offload-arch=sm_90 --stop-after=schedules --emit=shared -o - | FileCheck %s
// RUN: hirc %t.one.mlir --offload-arch=sm_90 --stop-after=schedules --schedule-report --emit=shared -o %t.scheduled 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/ONE/width = 2/; s/OTHER/{family = "pointwise", width = 2}/' %s > %t.same.mlir
// RUN: hirc %t.same.mlir --offload-arch=sm_90 --stop-after=schedules --emit=shared -o - | FileCheck %s
// RUN: sed 's/ONE/width = 2/; s/OTHER/{family = "pointwise", width = 1}/' %s > %t.two.mlir
// RUN: not hirc %t.two.mlir --offload-arch=sm_90 --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: sed 's/ONE/depth = 2/; s/, hir.configuration = OTHER//' %s > %t.wrong.mlir
// RUN: not hirc %t.wrong.mlir --offload-arch=sm_90 --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: sed 's/, hir.configuration = {.*ONE}//; s/, hir.configuration = OTHER//; s,// -- ,,' %s > %t.named.mlir
// RUN: not hirc %t.named.mlir --offload-arch=sm_90 --stop-after=schedules --emit=shared -o - 2>&1 | FileCheck %s --check-prefix=NAMED

// What is made of several operations asks for what one of them asks for; of several that do, all
// ask for the same. A dead operation has no kernel.

// CHECK-NOT:   gpu.func @negf_
// CHECK:       gpu.func @exp_negf_{{.*}}hir.configuration = {family = "pointwise", {{.*}}threads = 256 : i64, unroll = 1 : i64, width = 2 : i64}
// REPORT: kernel exp_negf_0 at {{.*}}one.mlir:33: pointwise, kernel = flat, layout = packed, pieces = true, threads = 256, unroll = 1, width = 2
// TWO:         two.mlir:40:8: error: hir.configuration: it is one with what is at {{.*}}two.mlir:33:8, which asks for another
// WRONG:       wrong.mlir:33:8: error: hir.configuration: 'pointwise' has no 'depth'
// NAMED:       named.mlir:47:8: error: hir.configuration stands on linalg.generic alone; write the operation as one

#line = affine_map<(i) -> (i)>
func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %empty = tensor.empty() : tensor<4096xf32>
  %dead = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%x : tensor<4096xf32>) outs(%empty : tensor<4096xf32>)
      attrs = {hir.configuration = {family = "rows"}} {
  ^bb0(%a: f32, %b: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<4096xf32>
  %e = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%x : tensor<4096xf32>) outs(%empty : tensor<4096xf32>)
      attrs = {hirtest.one, hir.configuration = {family = "pointwise", ONE}} {
  ^bb0(%a: f32, %b: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4096xf32>
  %y = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%e : tensor<4096xf32>) outs(%empty : tensor<4096xf32>)
      attrs = {hirtest.two, hir.configuration = OTHER} {
  ^bb0(%a: f32, %b: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<4096xf32>
  // -- %z = arith.negf %y {hir.configuration = {family = "pointwise"}} : tensor<4096xf32>
  return %y : tensor<4096xf32>
}
