// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p 'gpu.module(widen-printf-operands)'

gpu.module @m {
  gpu.func @wide_integer(%a: i128) kernel {
    // expected-error @below {{gpu.printf cannot print a value of type i128; convert it to 64 bits}}
    gpu.printf "%d\n", %a : i128
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @wide_float(%a: f128) kernel {
    // expected-error @below {{gpu.printf cannot print a value of type f128}}
    gpu.printf "%f\n", %a : f128
    gpu.return
  }
}
