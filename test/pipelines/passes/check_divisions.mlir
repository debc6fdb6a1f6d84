// RUN: hirc-opt %s -p 'check-divisions' | FileCheck %s

// CHECK-LABEL: func.func @divided(
// CHECK-SAME:    %[[N:.*]]: i64, %[[M:.*]]: i64, %[[I:.*]]: index
// CHECK:         %[[SOME:.*]] = arith.cmpi ne, %[[M]], %c0_i64
// CHECK-NEXT:    cf.assert %[[SOME]], "arith.divsi: a division by 0 has no result"
// CHECK:         %[[MORE:.*]] = arith.cmpi ne, %[[N]], %c-9223372036854775808_i64
// CHECK:         %[[OTHER:.*]] = arith.cmpi ne, %[[M]], %c-1_i64
// CHECK-NEXT:    %[[FITS:.*]] = arith.ori %[[MORE]], %[[OTHER]]
// CHECK-NEXT:    cf.assert %[[FITS]], "arith.divsi: the least integer divided by -1 has no result"
// CHECK-NEXT:    arith.divsi %[[N]], %[[M]]
// CHECK:         scf.if
// CHECK:           cf.assert {{.*}}, "arith.remui: a division by 0 has no result"
// CHECK-NEXT:      arith.remui
// CHECK:         cf.assert {{.*}}, "index.ceildivu: a division by 0 has no result"
// CHECK-NEXT:    index.ceildivu
func.func @divided(%n: i64, %m: i64, %i: index, %if: i1) -> (i64, i64, index) {
  %q = arith.divsi %n, %m : i64
  %r = scf.if %if -> i64 {
    %rest = arith.remui %n, %m : i64
    scf.yield %rest : i64
  } else {
    scf.yield %n : i64
  }
  %c = index.ceildivu %i, %i
  return %q, %r, %c : i64, i64, index
}

// A divisor that is -1, and a dividend that is the least.

// CHECK-LABEL: func.func @least(
// CHECK-NOT:     by 0
// CHECK:         cf.assert {{.*}}, "arith.remsi: the least integer divided by -1 has no result"
// CHECK-NEXT:    arith.remsi
// CHECK:         cf.assert {{.*}}, "index.divs: a division by 0 has no result"
// CHECK:         cf.assert {{.*}}, "index.divs: the least integer divided by -1 has no result"
// CHECK-NEXT:    index.divs
// CHECK:         cf.assert {{.*}}, "arith.floordivsi: a division by 0 has no result"
// CHECK-NEXT:    arith.floordivsi
func.func @least(%n: i8, %i: index) -> (i8, index, i8) {
  %minus_one = arith.constant -1 : i8
  %least = arith.constant -9223372036854775808 : index
  %more = arith.constant -127 : i8
  %r = arith.remsi %n, %minus_one : i8
  %q = index.divs %least, %i
  %f = arith.floordivsi %more, %n : i8
  return %r, %q, %f : i8, index, i8
}

// Neither what has a divisor that is known, nor what is computed for each element.

// CHECK-LABEL: func.func @others(
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @others(%n: i64, %x: tensor<4xi64>) -> (i64, tensor<4xi64>) {
  %three = arith.constant 3 : i64
  %q = arith.divsi %n, %three : i64
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xi64>) outs(%x : tensor<4xi64>) {
  ^bb0(%a: i64, %b: i64):
    %e = arith.divsi %a, %b : i64
    linalg.yield %e : i64
  } -> tensor<4xi64>
  %z = arith.divsi %x, %y : tensor<4xi64>
  return %q, %z : i64, tensor<4xi64>
}
