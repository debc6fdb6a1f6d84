// RUN: hirc-opt %s --verify-diagnostics -p 'gpu.module(expand-multi-reduction)'

gpu.module @m {
  gpu.func @scalable(%v: vector<2x[2]xf32>, %acc: vector<2xf32>) {
    // expected-error @below {{vectors of scalable size, such as vector<2x[2]xf32>, cannot be reduced}}
    %r = vector.multi_reduction <add>, %v, %acc [1] : vector<2x[2]xf32> to vector<2xf32>
    gpu.return
  }
}
