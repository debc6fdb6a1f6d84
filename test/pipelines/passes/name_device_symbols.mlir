// RUN: hirc-opt %s --name-device-symbols=unit=1f2e | FileCheck %s
// RUN: hirc-opt %s --name-device-symbols | FileCheck %s --check-prefix=NO-UNIT

// Kernels are renamed after their module and translation unit, whichever dialect spells them;
// other functions keep their names.
module attributes {gpu.container_module} {
  // CHECK-LABEL: gpu.module @first
  // NO-UNIT-LABEL: gpu.module @first
  gpu.module @first {
    // CHECK: gpu.func @first__work__1f2e() kernel
    // NO-UNIT: gpu.func @first__work() kernel
    gpu.func @work() kernel {
      func.call @helper() : () -> ()
      gpu.return
    }
    // CHECK: func.func @helper()
    func.func @helper() {
      return
    }
    // What refers to a kernel follows it.
    // CHECK: func.func @user() attributes {a.all = [@first__work__1f2e, {b.one = @first__lowered__1f2e}]}
    func.func @user() attributes {a.all = [@work, {b.one = @lowered}]} {
      return
    }
    // CHECK: llvm.blockaddress <function = @first__lowered__1f2e, tag = <id = 1>>
    llvm.func @address() -> !llvm.ptr {
      %0 = llvm.blockaddress <function = @lowered, tag = <id = 1>> : !llvm.ptr
      llvm.return %0 : !llvm.ptr
    }
    memref.global "private" constant @turns : memref<2xcomplex<f32>> = dense<[(1.0, 0.0), (0.0, 1.0)]>
    // CHECK: llvm.func @first__lowered__1f2e() attributes {nvvm.kernel}
    llvm.func @lowered() attributes {nvvm.kernel} {
      llvm.br ^end
    ^end:
      llvm.blocktag <id = 1>
      llvm.return
    }
  }

  // A kernel with its module's name says it once, and what PTX does not allow becomes `_`.
  // CHECK: gpu.module @work
  // CHECK: gpu.func @work__1f2e() kernel
  // CHECK: gpu.func @work__a_b_c__1f2e() kernel
  // NO-UNIT: gpu.module @work
  // NO-UNIT: gpu.func @work() kernel
  gpu.module @work {
    gpu.func @work() kernel {
      gpu.return
    }
    gpu.func @"a.b-c"() kernel {
      gpu.return
    }
  }

  // Names that would become one stay two; no name begins with a digit.
  // CHECK: gpu.func @a__b__c__1f2e() kernel
  // CHECK: gpu.func @a__b__c__1f2e_() kernel
  // CHECK: gpu.func @_1__k__1f2e() kernel
  gpu.module @a__b {
    gpu.func @c() kernel {
      gpu.return
    }
  }
  gpu.module @a {
    gpu.func @b__c() kernel {
      gpu.return
    }
  }
  gpu.module @"1" {
    gpu.func @k() kernel {
      gpu.return
    }
  }

  // CHECK-LABEL: func.func @main(
  // CHECK: gpu.launch_func @first::@first__work__1f2e
  // CHECK: gpu.launch_func @work::@work__1f2e
  // CHECK: gpu.launch_func @work::@work__a_b_c__1f2e
  // CHECK: gpu.launch_func @a__b::@a__b__c__1f2e blocks
  // CHECK: gpu.launch_func @a::@a__b__c__1f2e_ blocks
  // NO-UNIT-LABEL: func.func @main(
  // NO-UNIT: gpu.launch_func @first::@first__work
  // NO-UNIT: gpu.launch_func @work::@work
  func.func @main(%n: index) {
    gpu.launch_func @first::@work blocks in (%n, %n, %n) threads in (%n, %n, %n)
    scf.for %i = %n to %n step %n {
      gpu.launch_func @work::@work blocks in (%n, %n, %n) threads in (%n, %n, %n)
    }
    gpu.launch_func @work::@"a.b-c" blocks in (%n, %n, %n) threads in (%n, %n, %n)
    gpu.launch_func @a__b::@c blocks in (%n, %n, %n) threads in (%n, %n, %n)
    gpu.launch_func @a::@b__c blocks in (%n, %n, %n) threads in (%n, %n, %n)
    return
  }
}
