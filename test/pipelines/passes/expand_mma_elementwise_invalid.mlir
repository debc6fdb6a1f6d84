// RUN: hirc-opt %s --pass-pipeline='builtin.module(gpu.module(expand-mma-elementwise))' --split-input-file --verify-diagnostics

!half = !gpu.mma_matrix<16x16xf16, "COp">
gpu.module @m {
  func.func @extf_gives_f16(%a: !half) {
    // expected-error @+1 {{extf takes an f16 matrix of use COp to an f32 one of the same shape and use}}
    %b = gpu.subgroup_mma_elementwise extf %a : (!half) -> !half
    return
  }
}

// -----

!operand = !gpu.mma_matrix<16x16xf16, "AOp">
gpu.module @m {
  func.func @extf_of_an_operand(%a: !operand) {
    // expected-error @+1 {{extf takes an f16 matrix}}
    %b = gpu.subgroup_mma_elementwise extf %a : (!operand) -> !gpu.mma_matrix<16x16xf32, "COp">
    return
  }
}

// -----

!half = !gpu.mma_matrix<16x16xf16, "COp">
gpu.module @m {
  func.func @integers(%a: !half) {
    // expected-error @+1 {{addi is for matrices of integers, not of f16}}
    %b = gpu.subgroup_mma_elementwise addi %a, %a : (!half, !half) -> !half
    return
  }
}

// -----

!sum = !gpu.mma_matrix<16x16xi32, "COp">
gpu.module @m {
  func.func @floats(%a: !sum) {
    // expected-error @+1 {{negatef is for matrices of floats, not of i32}}
    %b = gpu.subgroup_mma_elementwise negatef %a : (!sum) -> !sum
    return
  }
}

// -----

!half = !gpu.mma_matrix<16x16xf16, "COp">
gpu.module @m {
  func.func @one_operand(%a: !half) {
    // expected-error @+1 {{maxf takes 2 operands, not 1}}
    %b = gpu.subgroup_mma_elementwise maxf %a : (!half) -> !half
    return
  }
}

// -----

!half = !gpu.mma_matrix<16x16xf16, "COp">
gpu.module @m {
  func.func @two_operands(%a: !half) {
    // expected-error @+1 {{negatef takes 1 operand, not 2}}
    %b = gpu.subgroup_mma_elementwise negatef %a, %a : (!half, !half) -> !half
    return
  }
}

// -----

gpu.module @m {
  func.func @no_such_shape(%a: !gpu.mma_matrix<64x64xf32, "COp">) {
    // expected-error @+1 {{no wmma operation of a chip has a matrix of type !gpu.mma_matrix<64x64xf32, "COp">}}
    %b = gpu.subgroup_mma_elementwise negatef %a : (!gpu.mma_matrix<64x64xf32, "COp">) -> !gpu.mma_matrix<64x64xf32, "COp">
    return
  }
}

// -----

!half = !gpu.mma_matrix<16x16xf16, "COp">
gpu.module @m {
  func.func @other_result(%a: !half) {
    // expected-error @+1 {{addf takes and gives matrices of one type}}
    %b = gpu.subgroup_mma_elementwise addf %a, %a : (!half, !half) -> !gpu.mma_matrix<32x8xf16, "COp">
    return
  }
}
