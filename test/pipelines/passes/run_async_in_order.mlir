// RUN: hirc-opt %s --run-async-in-order --split-input-file | FileCheck %s

// A region's operations stand in its place, its values are the operands of its end.
// CHECK-LABEL: func.func @values(
// CHECK-SAME:      %[[X:.*]]: f32, %[[M:.*]]: memref<4xf32>
// CHECK:         %[[Y:.*]] = arith.addf %[[X]], %[[X]] : f32
// CHECK:         %[[Z:.*]] = arith.mulf %[[Y]], %[[X]] : f32
// CHECK-NOT:     async
// CHECK:         return %[[Z]] : f32
func.func @values(%x: f32, %m: memref<4xf32>) -> f32 {
  %t, %v = async.execute -> !async.value<f32> {
    %y = arith.addf %x, %x : f32
    async.yield %y : f32
  }
  %u, %w = async.execute [%t] (%v as %y : !async.value<f32>) -> !async.value<f32> {
    %z = arith.mulf %y, %x : f32
    async.yield %z : f32
  }
  async.await %u : !async.token
  %z = async.await %w : !async.value<f32>
  return %z : f32
}

// -----

// Regions within regions, and groups.
// CHECK-LABEL: func.func @groups(
// CHECK:         scf.for
// CHECK:           gpu.wait
// CHECK-NOT:       async
// CHECK:         return
func.func @groups(%n: index, %one: index) {
  %group = async.create_group %n : !async.group
  scf.for %i = %one to %n step %one {
    %t = async.execute {
      %u = async.execute {
        gpu.wait
        async.yield
      }
      async.await %u : !async.token
      async.yield
    }
    %place = async.add_to_group %t, %group : !async.token
  }
  async.await_all %group
  return
}

// -----

// Tokens and values may be what functions take and give, and loops carry.
// CHECK-LABEL: func.func @given(
// CHECK-SAME:      %{{.*}}: i1, %[[V:.*]]: f32, %{{.*}}) -> (i1, f32)
// CHECK:         %[[DONE:.*]] = arith.constant true
// CHECK:         %[[LAST:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[DONE]], %{{.*}} = %[[V]]) -> (i1, f32)
// CHECK:         return %[[LAST]]#0, %[[LAST]]#1 : i1, f32
func.func @given(%t: !async.token, %v: !async.value<f32>, %n: index, %one: index)
    -> (!async.token, !async.value<f32>) {
  %first = async.execute [%t] {
    async.yield
  }
  %last:2 = scf.for %i = %one to %n step %one iter_args(%before = %first, %x = %v)
      -> (!async.token, !async.value<f32>) {
    %after, %y = async.execute [%before] (%x as %number : !async.value<f32>) -> !async.value<f32> {
      async.yield %number : f32
    }
    scf.yield %after, %y : !async.token, !async.value<f32>
  }
  return %last#0, %last#1 : !async.token, !async.value<f32>
}

// -----

// CHECK-LABEL: func.func @work(
// CHECK-SAME:      -> (i1, f32)
// CHECK:         %[[DONE:.*]] = arith.constant true
// CHECK:         return %[[DONE]], %{{.*}} : i1, f32
async.func @work(%x: f32) -> (!async.token, !async.value<f32>) {
  return %x : f32
}
// CHECK-LABEL: func.func @calls(
// CHECK:         %[[R:.*]]:2 = call @work(%{{.*}}) : (f32) -> (i1, f32)
// CHECK-NEXT:    return %[[R]]#1 : f32
func.func @calls(%x: f32) -> f32 {
  %t, %v = async.call @work(%x) : (f32) -> (!async.token, !async.value<f32>)
  async.await %t : !async.token
  %y = async.await %v : !async.value<f32>
  return %y : f32
}
