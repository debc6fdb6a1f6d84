// RUN: hirc-opt %s --add-program-interface=entry=start --split-input-file --verify-diagnostics

// expected-error @below {{the entry 'start' takes or returns memref<*xf32>, which a command cannot pass: buffers of known rank and scalars can be. Wrap it in a function that does, or build with --emit=shared or --emit=object}}
func.func @start(%x: memref<*xf32>) {
  return
}

// -----

// expected-error @below {{the entry 'start' takes or returns memref<4xi4>, which}}
func.func @start(%x: f32) -> memref<4xi4> {
  %0 = memref.alloc() : memref<4xi4>
  return %0 : memref<4xi4>
}

// -----

// expected-error @below {{2 arguments, where 2 inputs, 0 handed-in outputs and the stream are described}}
func.func private @hirc_body_f(%x: f32, %stream: !llvm.ptr)
    attributes {hir.inputs = [{type = f32}, {type = f32}], hir.outputs = []} {
  return
}

// -----

// expected-error @below {{'input0' is of type !llvm.ptr, which no caller can pass}}
func.func private @hirc_body_f(%x: !llvm.ptr, %stream: !llvm.ptr)
    attributes {hir.inputs = [{type = !llvm.ptr}], hir.outputs = []} {
  return
}

// -----

// expected-error @below {{input0 is described without its type}}
func.func private @hirc_body_f(%x: f32, %stream: !llvm.ptr)
    attributes {hir.inputs = [{name = "x"}], hir.outputs = []} {
  return
}

// -----

// expected-error @below {{'x' is described with 2 sizes, of 1 dims}}
func.func private @hirc_body_f(%x: memref<?xf32>, %stream: !llvm.ptr)
    attributes {hir.inputs = [{name = "x", type = memref<?xf32>, sizes = ["n", "m"]}], hir.outputs = []} {
  return
}

// -----

// expected-error @below {{'y' is described as 'borrowed'; there are allocated, input, view}}
func.func private @hirc_body_f(%x: memref<4xf32>, %stream: !llvm.ptr) -> memref<4xf32>
    attributes {hir.inputs = [{type = memref<4xf32>}],
                hir.outputs = [{name = "y", type = memref<4xf32>, origin = "borrowed"}]} {
  return %x : memref<4xf32>
}

// -----

// expected-error @below {{'y' lies in input 3, of 1}}
func.func private @hirc_body_f(%x: memref<4xf32>, %stream: !llvm.ptr) -> memref<4xf32>
    attributes {hir.inputs = [{type = memref<4xf32>}],
                hir.outputs = [{name = "y", type = memref<4xf32>, origin = "input", input = 3}]} {
  return %x : memref<4xf32>
}

// -----

module attributes {hirc.weights = {bytes = 128 : i64, file = "",
    header = "{\"w\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[0,128]}}"}} {
  // expected-error @below {{hirc.weights of the module has no weight of the name 'v'}}
  func.func private @hirc_body_f(%v: memref<4x8xf32>, %stream: !llvm.ptr)
      attributes {hir.inputs = [{name = "v", type = memref<4x8xf32>, weight = "v"}], hir.outputs = []} {
    return
  }
}

// -----

// expected-error @below {{it has no hir.outputs, which describe a program's values for its callers}}
func.func private @hirc_body_f(%x: f32, %stream: !llvm.ptr) attributes {hir.inputs = [{type = f32}]} {
  return
}

// -----

// expected-error @below {{hir.inputs are not as hirc writes them: }}
func.func private @hirc_body_f(%x: f32, %stream: !llvm.ptr)
    attributes {hir.inputs = [{type = f32, name = 3}], hir.outputs = []} {
  return
}

// -----

// expected-error @below {{the weight that input0 is has no name}}
func.func private @hirc_body_f(%x: memref<4xf32>, %stream: !llvm.ptr)
    attributes {hir.inputs = [{type = memref<4xf32>, weight = 3}], hir.outputs = []} {
  return
}

// -----

func.func private @hirc_body_main(%x: memref<4xf32>, %stream: !llvm.ptr) -> memref<4xf32>
    attributes {hir.inputs = [{name = "x", type = memref<4xf32>}],
                hir.outputs = [{name = "x", type = memref<4xf32>, origin = "input", input = 0}]} {
  return %x : memref<4xf32>
}
// expected-error @below {{programs 'main' and 'main_info' would both export 'hirc_program_main_info'; rename one of them}}
func.func private @hirc_body_main_info(%x: memref<4xf32>, %stream: !llvm.ptr) -> memref<4xf32>
    attributes {hir.inputs = [{name = "x", type = memref<4xf32>}],
                hir.outputs = [{name = "x", type = memref<4xf32>, origin = "input", input = 0}]} {
  return %x : memref<4xf32>
}

// -----

// expected-error @below {{the name of program 'a@b' is part of a symbol, which has no '@' and no NUL}}
func.func private @"hirc_body_a@b"(%x: memref<4xf32>, %stream: !llvm.ptr) -> memref<4xf32>
    attributes {hir.inputs = [{name = "x", type = memref<4xf32>}],
                hir.outputs = [{name = "x", type = memref<4xf32>, origin = "input", input = 0}]} {
  return %x : memref<4xf32>
}
