// RUN: hirc-opt %s --split-input-file --verify-diagnostics

func.func @case(%x: memref<8x4x10x9xf64>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: its operands are all of one of f32, f16, bf16, not f64, f32, f32}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf64>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf16>) {
  // expected-error @below {{hir.library_convolution: its operands are all of one of f32, f16, bf16, not f32, f32, f16}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf16>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf16>, %w: memref<6x4x3x3xf16>, %y: memref<8x6x8x7xf16>) {
  // expected-error @below {{hir.library_convolution: compute of f16 is f32, not tf32}}
  "hir.library_convolution"(%x, %w, %y) {compute = "tf32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf16>, memref<6x4x3x3xf16>, memref<8x6x8x7xf16>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: direction is one of forward, data_gradient, not backward}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "backward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: strides is an array<i64: ...>, not left out}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: strides has one to 3 numbers, not 4}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1, 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: padding has 2 numbers as strides, of 0 or more; it is [0, -1]}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, -1>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: dilations has 2 numbers as strides, of 1 or more; it is [1]}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: groups is 1 or more, not 0}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 0 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: dims is an array of one array<i64: ...> an operand: what each of its dims is, -1 for none}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [0 : i64, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: dims is of operands with [4, 3, 4] dims, and they have [4, 4, 4]}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: the numbers in dims are -1 to 3; those of the weights are [0, 1, 2, 4]}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 4>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: dims of the image with the same number are neighbours; its dims are [0, 1, 2, 1]}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 1>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32, strided<[400, 90, 10, 1]>>, %w: memref<6x40x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: dims 1 and 2 of the image are both 1, and a step of the outer one is 90 elements, not 100}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 1, 2>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32, strided<[400, 90, 10, 1]>>, memref<6x40x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: dim 2 of the result is none, and so has size 1}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, -1, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<7x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: the images of the image and of the result are as many, not 8 and 7}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<7x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x5x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: the filters and the channels that they are of are as many, not 5 and 6}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x5x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: the channels and those of the weights in all groups are as many, not 4 and 8}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 2 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x16x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: 6 filters are no multiple of 4 groups}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 4 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x16x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x4x10x9xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: along place 1 windows of 3 have 9 places, not 7}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 1>, strides = array<i64: 1, 1>} : (memref<8x4x10x9xf32>, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}

// -----

func.func @case(%x: memref<8x6x10x7xf32>, %w: memref<6x4x3x3xf32>, %y: memref<8x4x8x9xf32>) {
  // expected-error @below {{hir.library_convolution: along place 0 windows of 3 have 6 places, not 10}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "data_gradient", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (memref<8x6x10x7xf32>, memref<6x4x3x3xf32>, memref<8x4x8x9xf32>) -> ()
  return
}

// -----

func.func @case(%x: f32, %w: memref<6x4x3x3xf32>, %y: memref<8x6x8x7xf32>) {
  // expected-error @below {{hir.library_convolution: the image is a buffer; f32}}
  "hir.library_convolution"(%x, %w, %y) {compute = "f32", dilations = array<i64: 1, 1>, dims = [array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>, array<i64: 0, 1, 2, 3>], direction = "forward", groups = 1 : i64, padding = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (f32, memref<6x4x3x3xf32>, memref<8x6x8x7xf32>) -> ()
  return
}
