// RUN: hirc-opt --pass-pipeline='builtin.module(lower-host-branches)' %s | FileCheck %s

// CHECK-LABEL: func.func @branches(
// CHECK-SAME:    %[[C:.*]]: i1, %[[D:.*]]: i1, %[[X:.*]]: i32)
// CHECK:         cf.cond_br %[[C]], ^[[THEN:.*]], ^[[ELSE:.*]]
// CHECK:       ^[[THEN]]:
// CHECK-NEXT:    cf.cond_br %[[D]], ^[[INNER:.*]], ^[[BEHIND:.*]]{{$}}
// CHECK:       ^[[INNER]]:
// CHECK-NEXT:    call @f(%[[X]])
// CHECK-NEXT:    cf.br ^[[BEHIND]]
// CHECK:       ^[[BEHIND]]:
// CHECK-NEXT:    cf.br ^[[AFTER:.*]](%[[X]] : i32)
// CHECK:       ^[[ELSE]]:
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %[[X]], %[[X]]
// CHECK-NEXT:    cf.br ^[[AFTER]](%[[SUM]] : i32)
// CHECK:       ^[[AFTER]](%[[R:.*]]: i32):
// CHECK-NEXT:    call @f(%[[R]])
// CHECK-NEXT:    cf.cond_br %[[D]], ^[[LAST:.*]], ^[[EMPTY:.*]]{{$}}
// CHECK:       ^[[LAST]]:
// CHECK-NEXT:    call @f(%[[X]])
// CHECK-NEXT:    cf.br ^[[END:.*]]
// CHECK:       ^[[EMPTY]]:
// CHECK-NEXT:    cf.br ^[[END]]
// CHECK:       ^[[END]]:
// CHECK-NEXT:    return %[[R]]
func.func private @f(i32)
func.func @branches(%c: i1, %d: i1, %x: i32) -> i32 {
  %r = scf.if %c -> i32 {
    scf.if %d {
      func.call @f(%x) : (i32) -> ()
    }
    scf.yield %x : i32
  } else {
    %sum = arith.addi %x, %x : i32
    scf.yield %sum : i32
  }
  call @f(%r) : (i32) -> ()
  scf.if %d {
    func.call @f(%x) : (i32) -> ()
  } else {
  }
  return %r : i32
}

// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[N:.*]]: index, %[[X:.*]]: i32)
// CHECK:         cf.br ^[[HEAD:.*]](%[[ZERO:.*]], %[[X]] : index, i32)
// CHECK:       ^[[HEAD]](%[[I:.*]]: index, %[[A:.*]]: i32):
// CHECK-NEXT:    %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[N]] : index
// CHECK-NEXT:    cf.cond_br %[[MORE]], ^[[BODY:.*]], ^[[AFTER:.*]]{{$}}
// CHECK:       ^[[BODY]]:
// CHECK-NEXT:    %[[CAST:.*]] = arith.index_cast %[[I]]
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addi %[[A]], %[[CAST]]
// CHECK-NEXT:    %[[J:.*]] = arith.addi %[[I]], %{{.*}} : index
// CHECK-NEXT:    cf.br ^[[HEAD]](%[[J]], %[[NEXT]] : index, i32)
// CHECK:       ^[[AFTER]]:
// CHECK-NEXT:    return %[[A]]
func.func @loop(%n: index, %x: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> i32 {
    %cast = arith.index_cast %i : index to i32
    %next = arith.addi %a, %cast : i32
    scf.yield %next : i32
  }
  return %r : i32
}

// An index without a sign is compared without one; other loops, and kernels, are left.
// CHECK-LABEL: func.func @others(
// CHECK:         arith.cmpi ult
// CHECK:         scf.while
// CHECK:           scf.if
func.func @others(%n: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for unsigned %i = %c0 to %n step %c1 : i32 {
    func.call @f(%i) : (i32) -> ()
  }
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.if %c {
      func.call @f(%n) : (i32) -> ()
    }
    scf.yield
  }
  return
}

// CHECK-LABEL: gpu.module @kernels
// CHECK:         scf.if
gpu.module @kernels {
  gpu.func @kernel(%c: i1) kernel {
    scf.if %c {
      gpu.barrier
    }
    gpu.return
  }
}
