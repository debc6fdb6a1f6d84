// RUN: hirc-opt %s | FileCheck %s
// RUN: hirc-opt %s --emit-bytecode -o %t.mlirbc && hirc-opt %t.mlirbc | FileCheck %s

// CHECK: "offload.entry"() {device_name = "work", host = @stub, kind = "kernel", size = 0 : i64} : () -> ()
"offload.entry"() {device_name = "work", host = @stub, kind = "kernel", size = 0 : i64} : () -> ()
// CHECK: "offload.entry"() {device_name = "counts", host = @shadow, kind = "global", size = 16 : i64} : () -> ()
"offload.entry"() {device_name = "counts", host = @shadow, kind = "global", size = 16 : i64} : () -> ()
// CHECK: "offload.entry"() {device_name = "factors", host = @shadow, kind = "constant", size = 4 : i64} : () -> ()
"offload.entry"() {device_name = "factors", host = @shadow, kind = "constant", size = 4 : i64} : () -> ()
