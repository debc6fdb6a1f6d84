// RUN: hirc-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{hir.program has a name; 'sym_name' is empty}}
"hir.program"() ({
^bb0:
}) {sym_name = "", function_type = () -> ()} : () -> ()

// -----

gpu.module @inner {
  // expected-error @below {{hir.program stands in a builtin.module, not in gpu.module}}
  "hir.program"() ({
  ^bb0:
  }) {sym_name = "main", function_type = () -> ()} : () -> ()
}

// -----

// expected-error @below {{'function_type' is the type of a function, not i32}}
"hir.program"() ({
^bb0:
}) {sym_name = "main", function_type = i32} : () -> ()

// -----

// expected-error @below {{the body of hir.program is one block; it has none: write ({ ^bb0: }) for an empty one}}
"hir.program"() ({
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

// expected-error @below {{the body of hir.program is one block, not 2: hir.for and hir.if are its control}}
"hir.program"() ({
^bb0:
  %one = arith.constant 1 : index
^bb1:
  %two = arith.constant 2 : index
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

// expected-error @below {{@main declares 0 inputs in 'function_type', but its block has 1 arguments}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):

}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

// expected-error @below {{input 0 of @main is memref<4xf32> in 'function_type', but the block's argument is memref<?x4xf32>}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):

}) {sym_name = "main", function_type = (memref<4xf32>) -> ()} : () -> ()

// -----

// expected-error @below {{input 0 of @main, memref<4xi3>, has elements of i3, which buffers cannot hold}}
"hir.program"() ({
^bb0(%x: memref<4xi3>):

}) {sym_name = "main", function_type = (memref<4xi3>) -> ()} : () -> ()

// -----

// expected-error @below {{input 0 of @main, memref<4xf32, 3>, has a memory space; buffers have none (hir.allocate has `memory`)}}
"hir.program"() ({
^bb0(%x: memref<4xf32, 3>):

}) {sym_name = "main", function_type = (memref<4xf32, 3>) -> ()} : () -> ()

// -----

// expected-error @below {{input 0 of @main, memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>, has a layout that is not strided}}
"hir.program"() ({
^bb0(%x: memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>):

}) {sym_name = "main", function_type = (memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>) -> ()} : () -> ()

// -----

// expected-error @below {{input 0 of @main, tensor<4xf32>, is neither a buffer nor a scalar}}
"hir.program"() ({
^bb0(%x: tensor<4xf32>):

}) {sym_name = "main", function_type = (tensor<4xf32>) -> ()} : () -> ()

// -----

// expected-error @below {{output 0 of @main, complex<f32>, is neither a buffer nor a scalar}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):

}) {sym_name = "main", function_type = (memref<?x4xf32>) -> complex<f32>} : () -> ()

// -----

// expected-error @below {{'inputs' is an array of dictionaries, one an input, not 3 : i64}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (), inputs = 3} : () -> ()

// -----

// expected-error @below {{'inputs' has one dictionary an input, 1, not 0}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (), inputs = []} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: a dictionary is wanted, with name, sizes, alignment; it is "x"}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (), inputs = ["x"]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: the entries are name, sizes, alignment, written, spread, unsigned, weight, state, zero_init; there is no 'size'}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (), inputs = [{name = "x", size = 4 : i64}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: 'name' is a string that is not empty}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (), inputs = [{sizes = ["n", 4]}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: 'name' is a string that is not empty}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (), inputs = [{name = ""}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: 'alignment' is for buffers, not for f32: leave it out}}
"hir.program"() ({
^bb0(%x: f32):
}) {sym_name = "main", function_type = (f32) -> (), inputs = [{name = "x", alignment = 4}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: 'alignment' is a power of two, in bytes, not 12 : i64}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (), inputs = [{name = "x", alignment = 12}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: 'sizes' has one entry a dim of memref<?x4xf32>, 2; it is ["n"]}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (), inputs = [{name = "x", sizes = ["n"]}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: dim 0 is open in memref<?x4xf32>, so its size is a name, not 8; a number goes into the type}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (), inputs = [{name = "x", sizes = [8, 4]}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: dim 1 of memref<?x4xf32> has size 4, not 5}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (), inputs = [{name = "x", sizes = ["n", 5]}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: dim 1 of memref<?x4xf32> has size 4, so 'sizes' has that number, not the name 'm'; a name is for a dim the type leaves open (?)}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (), inputs = [{name = "x", sizes = ["n", "m"]}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: a size is a number or a name, not ""}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> (), inputs = [{name = "x", sizes = ["", 4]}]} : () -> ()

// -----

// expected-error @below {{inputs 0 and 1 are both called 'x'; give each its own}}
"hir.program"() ({
^bb0(%x: f32, %y: f32):
}) {sym_name = "main", function_type = (f32, f32) -> (), inputs = [{name = "x"}, {name = "x"}]} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{a program holds operations of hir, arith, math, index, memref, linalg, cf.assert, builtin.unrealized_conversion_cast, not gpu.thread_id; what a kernel does goes into a gpu.func for hir.launch, other code into C for hir.host_call}}
  %i = gpu.thread_id x
}) {sym_name = "main", function_type = () -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
  "hir.output"(%x) : (memref<?x4xf32>) -> ()
  // expected-error @below {{arith.constant comes after an output of @main; the outputs end the program: put it before them}}
  %one = arith.constant 1 : index
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> memref<?x4xf32>} : () -> ()

// -----

// expected-error @below {{@main declares 1 outputs in 'function_type', but its body has 0 hir.output}}
"hir.program"() ({
^bb0(%x: memref<?x4xf32>):

}) {sym_name = "main", function_type = (memref<?x4xf32>) -> memref<?x4xf32>} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
  // expected-error @below {{output 0 of @main is not as declared: expected elements of f16, not f32}}
  "hir.output"(%x) : (memref<?x4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> memref<?x4xf16>} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
  // expected-error @below {{output 0 of @main is not as declared: expected 1 dims, not 2: memref<4xf32>, not memref<?x4xf32>}}
  "hir.output"(%x) : (memref<?x4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> memref<4xf32>} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<?x4xf32>):
  // expected-error @below {{output 0 of @main is not as declared: expected size 5 of dim 1, not 4}}
  "hir.output"(%x) : (memref<?x4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?x4xf32>) -> memref<?x5xf32>} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: f32):
  // expected-error @below {{output 0 of @main is not as declared: expected index, not f32}}
  "hir.output"(%x) : (f32) -> ()
}) {sym_name = "main", function_type = (f32) -> index} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: f32):
  "hir.output"(%x) {name = "y"} : (f32) -> ()
  // expected-error @below {{outputs 0 and 1 of @main are both called 'y'; give each a name of its own (without one it is its number: output1)}}
  "hir.output"(%x) {name = "y"} : (f32) -> ()
}) {sym_name = "main", function_type = (f32) -> (f32, f32)} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: f32):
  "hir.output"(%x) {name = "output1"} : (f32) -> ()
  // expected-error @below {{outputs 0 and 1 of @main are both called 'output1'}}
  "hir.output"(%x) : (f32) -> ()
}) {sym_name = "main", function_type = (f32) -> (f32, f32)} : () -> ()

// -----

"hir.program"() ({
  // expected-error @below {{@second calls itself (@second -> @first -> @second)}}
  %r = "hir.call"() ({
  ^bb0:
  }) {callee = @second} : () -> !hir.results_t
}) {sym_name = "first", function_type = () -> ()} : () -> ()
"hir.program"() ({
  // expected-error @below {{@first calls itself (@first -> @second -> @first); programs do not recurse: repeat with hir.for}}
  %r = "hir.call"() ({
  ^bb0:
  }) {callee = @first} : () -> !hir.results_t
}) {sym_name = "second", function_type = () -> ()} : () -> ()

// -----

// expected-error @below {{inputs 0 and 1 are both the weight 'w'; one input is enough}}
"hir.program"() ({
^bb0(%x: memref<4xf32>, %y: memref<4xf32>):
}) {sym_name = "main", function_type = (memref<4xf32>, memref<4xf32>) -> (),
    inputs = [{weight = "w"}, {weight = "w"}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: a weight has no 'name' beside 'weight', its name}}
"hir.program"() ({
^bb0(%x: memref<4xf32>):
}) {sym_name = "main", function_type = (memref<4xf32>) -> (),
    inputs = [{name = "x", weight = "w"}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: 'weight' is a string that is not empty, the weight's name}}
"hir.program"() ({
^bb0(%x: memref<4xf32>):
}) {sym_name = "main", function_type = (memref<4xf32>) -> (), inputs = [{weight = ""}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: weight 'w' is memref<?xf32>: the sizes of weights are fixed}}
"hir.program"() ({
^bb0(%x: memref<?xf32>):
}) {sym_name = "main", function_type = (memref<?xf32>) -> (), inputs = [{weight = "w"}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: weight 'w' is memref<4xf32, strided<[2]>>: weights are packed, row by row}}
"hir.program"() ({
^bb0(%x: memref<4xf32, strided<[2]>>):
}) {sym_name = "main", function_type = (memref<4xf32, strided<[2]>>) -> (),
    inputs = [{weight = "w"}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: weight 'w' is index: weights are buffers}}
"hir.program"() ({
^bb0(%x: index):
}) {sym_name = "main", function_type = (index) -> (), inputs = [{weight = "w"}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: a state has no 'name' beside 'state', its name}}
"hir.program"() ({
^bb0(%s: memref<4xf32>):
}) {sym_name = "main", function_type = (memref<4xf32>) -> (),
    inputs = [{name = "x", state = "s"}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: 'unsigned' is for signless integers, not for memref<4xf32>}}
"hir.program"() ({
^bb0(%s: memref<4xf32>):
}) {sym_name = "main", function_type = (memref<4xf32>) -> (),
    inputs = [{state = "s", unsigned}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: 'zero_init' says how 'state' begins, and this is none}}
"hir.program"() ({
^bb0(%s: memref<4xf32>):
}) {sym_name = "main", function_type = (memref<4xf32>) -> (),
    inputs = [{name = "x", zero_init}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: state 's' is f32: state is in buffers}}
"hir.program"() ({
^bb0(%s: f32):
}) {sym_name = "main", function_type = (f32) -> (), inputs = [{state = "s"}]} : () -> ()

// -----

// expected-error @below {{'inputs' of input 0: 'written' is for buffers, not for f32: leave it out}}
"hir.program"() ({
^bb0(%s: f32):
}) {sym_name = "main", function_type = (f32) -> (), inputs = [{name = "s", written}]} : () -> ()

// -----

// expected-error@+1 {{'inputs' of input 0: 'unsigned' is for signless integers, not for memref<4xf32>}}
"hir.program"() ({
^bb0(%x: memref<4xf32>):
}) {sym_name = "main", function_type = (memref<4xf32>) -> (), inputs = [{name = "x", unsigned}]} : () -> ()
