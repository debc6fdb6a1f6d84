// RUN: hirc-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{offload.image format is one of bitcode, cubin, object, not 'ptx'}}
"offload.image"() {arch = "sm_90", triple = "nvptx64-nvidia-cuda", format = "ptx", data = dense<0> : tensor<2xi8>} : () -> ()

// -----

// expected-error @below {{offload.image data is a tensor of i8}}
"offload.image"() {arch = "sm_90", triple = "nvptx64-nvidia-cuda", format = "bitcode", data = dense<0> : tensor<2xi16>} : () -> ()

// -----

// expected-error @below {{offload.image data is a tensor of i8}}
"offload.image"() {arch = "sm_90", triple = "nvptx64-nvidia-cuda", format = "bitcode", data = "bytes"} : () -> ()
