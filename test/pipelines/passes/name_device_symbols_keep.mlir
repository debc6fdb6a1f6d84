// RUN: hirc-opt %s --name-device-symbols="unit=1f2e" --split-input-file | FileCheck %s

// Of a whole program, a kernel keeps a name that nothing else on the device has.
// CHECK:     module attributes {gpu.container_module} {
module attributes {gpu.container_module, offload.elsewhere = ["beside"]} {
  // CHECK-LABEL: gpu.module @first
  gpu.module @first {
    // CHECK: gpu.func @alone() kernel
    gpu.func @alone() kernel {
      gpu.return
    }
    // CHECK: gpu.func @first__twice__1f2e() kernel
    gpu.func @twice() kernel {
      gpu.return
    }
    // CHECK: gpu.func @first__helper__1f2e() kernel
    gpu.func @helper() kernel {
      gpu.return
    }
    // CHECK: gpu.func @first__data__1f2e() kernel
    gpu.func @data() kernel {
      gpu.return
    }
    // Another unit of the program has it.
    // CHECK: gpu.func @first__beside__1f2e() kernel
    gpu.func @beside() kernel {
      gpu.return
    }
    // What CUDA or PTX means by a name.
    // CHECK: gpu.func @first__malloc__1f2e() kernel
    gpu.func @malloc() kernel {
      gpu.return
    }
    // CHECK: gpu.func @first____nv_expf__1f2e() kernel
    gpu.func @__nv_expf() kernel {
      gpu.return
    }
    // CHECK: gpu.func @first__with_dots__1f2e() kernel
    gpu.func @with.dots() kernel {
      gpu.return
    }
    // The host has its stub's name.
    // CHECK: gpu.func @first__hosts__1f2e() kernel
    gpu.func @hosts() kernel {
      gpu.return
    }
  }
  // CHECK-LABEL: gpu.module @second
  gpu.module @second {
    // CHECK: gpu.func @second__twice__1f2e() kernel
    gpu.func @twice() kernel {
      gpu.return
    }
    func.func @helper() {
      return
    }
    memref.global @data : memref<4xf32>
  }
  func.func @hosts_stub() {
    return
  }
  // CHECK-LABEL: func.func @main
  // CHECK:         gpu.launch_func @first::@alone
  // CHECK:         gpu.launch_func @second::@second__twice__1f2e
  func.func @main() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @first::@alone blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @second::@twice blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}
