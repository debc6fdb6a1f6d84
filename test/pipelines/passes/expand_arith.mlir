// RUN: hirc-opt %s -p 'expand-arith' | FileCheck %s

// CHECK-LABEL: func.func @carries
// CHECK-SAME:    %[[A:.*]]: index, %[[B:.*]]: index
// CHECK:         %[[SUM:.*]] = arith.addi %[[A]], %[[B]] : index
// CHECK:         %[[CARRY:.*]] = arith.cmpi ult, %[[SUM]], %[[A]] : index
// CHECK:         %[[REST:.*]] = arith.subi %[[A]], %[[B]] : index
// CHECK:         %[[BORROW:.*]] = arith.cmpi ult, %[[A]], %[[B]] : index
// CHECK:         return %[[SUM]], %[[CARRY]], %[[REST]], %[[BORROW]]
func.func @carries(%a: index, %b: index) -> (index, i1, index, i1) {
  %0, %1 = arith.addui_extended %a, %b : index, i1
  %2, %3 = arith.subui_extended %a, %b : index, i1
  return %0, %1, %2, %3 : index, i1, index, i1
}

// CHECK-LABEL: func.func @halves
// CHECK:         arith.mulsi_extended %{{.*}} : vector<2xi32>
// CHECK-COUNT-2: arith.mului_extended %{{.*}} : i32
// CHECK:         vector.from_elements %{{.*}} : vector<2x1xi32>
// CHECK:         vector.from_elements %{{.*}} : vector<2x1xi32>
func.func @halves(%a: vector<2xi32>, %b: vector<2x1xi32>)
    -> (vector<2xi32>, vector<2xi32>, vector<2x1xi32>, vector<2x1xi32>) {
  %0, %1 = arith.mulsi_extended %a, %a : vector<2xi32>
  %2, %3 = arith.mului_extended %b, %b : vector<2x1xi32>
  return %0, %1, %2, %3 : vector<2xi32>, vector<2xi32>, vector<2x1xi32>, vector<2x1xi32>
}

// CHECK-LABEL: func.func @conversions
// CHECK:         arith.sitofp
func.func @conversions(%a: i64) -> f32 {
  %r = arith.sitofp %a : i64 to f32
  return %r : f32
}
