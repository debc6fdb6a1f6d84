// RUN: hirc-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{offload.entry kind is one of kernel, global, constant, not 'texture'}}
"offload.entry"() {device_name = "a", host = @a, kind = "texture", size = 0 : i64} : () -> ()

// -----

// expected-error @below {{offload.entry of a kernel has size 0, of a variable its bytes; this kernel has size 4}}
"offload.entry"() {device_name = "a", host = @a, kind = "kernel", size = 4 : i64} : () -> ()

// -----

// expected-error @below {{offload.entry of a kernel has size 0, of a variable its bytes; this global has size 0}}
"offload.entry"() {device_name = "a", host = @a, kind = "global", size = 0 : i64} : () -> ()

// -----

// expected-error @below {{'offload.entry'}}
"offload.entry"() {device_name = "a", kind = "global", size = 4 : i64} : () -> ()

// -----

// expected-error @below {{expected base attribute 'builtin.string' but got 'builtin.symbol_ref'}}
"offload.entry"() {device_name = @a, host = @a, kind = "global", size = 4 : i64} : () -> ()

// -----

// expected-error @below {{attribute "size" is expected but not provided}}
"offload.entry"() {device_name = "a", host = @a, kind = "global"} : () -> ()

// -----

// expected-error @below {{attribute "kind" is expected but not provided}}
"offload.entry"() {device_name = "a", host = @a, size = 4 : i64} : () -> ()

// -----

// expected-error @below {{expected base attribute 'builtin.integer' but got 'builtin.unit'}}
"offload.entry"() {device_name = "a", host = @a, kind = "global", size} : () -> ()
