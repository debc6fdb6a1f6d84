// RUN: hirc-opt %s | FileCheck %s

// CHECK: "offload.image"() {arch = "sm_90", data = dense<[66, 67]> : tensor<2xi8>, format = "bitcode", triple = "nvptx64-nvidia-cuda"} : () -> ()
"offload.image"() {arch = "sm_90", triple = "nvptx64-nvidia-cuda", format = "bitcode", data = dense<[66, 67]> : tensor<2xi8>} : () -> ()
// CHECK: "offload.image"() {arch = "sm_80", data = dense<0> : tensor<8xi8>, format = "cubin", triple = "nvptx64-nvidia-cuda"} : () -> ()
"offload.image"() {arch = "sm_80", triple = "nvptx64-nvidia-cuda", format = "cubin", data = dense<0> : tensor<8xi8>} : () -> ()
