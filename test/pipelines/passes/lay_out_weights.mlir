// RUN: hirc-opt %s --split-input-file -p lay-out-weights | FileCheck %s

// Those that fill multiples of 256 bytes come first, so that a file without gaps can hold the same.
// CHECK: module attributes {hirc.weights = {bytes = 768 : i64, file = "",
// CHECK-SAME: header = "{\22n\22:{\22dtype\22:\22I64\22,\22shape\22:[0,4],\22data_offsets\22:[0,0]},
// CHECK-SAME: \22b\22:{\22dtype\22:\22BF16\22,\22shape\22:[128],\22data_offsets\22:[0,256]},
// CHECK-SAME: \22a\22:{\22dtype\22:\22F32\22,\22shape\22:[3],\22data_offsets\22:[256,268]},
// CHECK-SAME: \22k\22:{\22dtype\22:\22BOOL\22,\22shape\22:[],\22data_offsets\22:[512,513]}}"}
func.func @main(%k: tensor<i1> {hirc.weight = "k"}, %a: tensor<3xf32> {hirc.weight = "a"},
                %n: tensor<0x4xi64> {hirc.weight = "n"}, %x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
"hir.program"() ({
^bb0(%a: memref<3xf32>, %b: memref<128xbf16>):
}) {sym_name = "other", function_type = (memref<3xf32>, memref<128xbf16>) -> (),
    inputs = [{weight = "a"}, {weight = "b"}]} : () -> ()

// -----

// What was decided before stays.
// CHECK: module attributes {hirc.weights = {bytes = 4096 : i64
module attributes {hirc.weights = {bytes = 4096 : i64, file = "w.safetensors", header =
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[1024,1036]}}"}} {
  func.func @main(%a: tensor<3xf32> {hirc.weight = "a"}) -> tensor<3xf32> {
    return %a : tensor<3xf32>
  }
}

// -----

// Behind a weight of 16 bits with many rows there is room for a multiple of 8: for 72 of 32 bytes here.
// CHECK: module attributes {hirc.weights = {bytes = 2304 : i64, file = "",
// CHECK-SAME: header = "{\22a\22:{\22dtype\22:\22F16\22,\22shape\22:[65,16],\22data_offsets\22:[0,2080]}}"}
func.func @main(%a: tensor<65x16xf16> {hirc.weight = "a"}, %x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

// -----

// It may be the next one's, here 7 rows of 32 bytes in 256.
// CHECK: module attributes {hirc.weights = {bytes = 2560 : i64, file = "",
// CHECK-SAME: [0,2080]
// CHECK-SAME: [2304,2306]
func.func @main(%a: tensor<65x16xf16> {hirc.weight = "a"}, %b: tensor<1xf16> {hirc.weight = "b"}, %x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

// -----

// State has memory of its own; what it begins as is a weight, unless it is zeros.
// CHECK: module attributes {hirc.weights = {bytes = 256 : i64, file = "",
// CHECK-SAME: header = "{\22n\22:{\22dtype\22:\22I64\22,\22shape\22:[],\22data_offsets\22:[0,8]}}",
// CHECK-SAME: \22name\22: \22k\22, {{.*}}\22role\22: \22state that begins as zeros\22
// CHECK-SAME: \22name\22: \22n\22, {{.*}}\22role\22: \22state\22
func.func @main(%k: tensor<8x4xf32> {hirc.state = "k", hirc.zero_init},
                %n: tensor<i64> {hirc.state = "n"}) -> (tensor<i64> {hirc.updates = 1}) {
  return %n : tensor<i64>
}

// -----

// Over a mesh a device has its part of what is divided: the header is the file's, the places are the
// device's. What two functions divide differently is whole.
// CHECK: module attributes {hirc.weights = {bytes = 4864 : i64, file = "",
// CHECK-SAME: \22a\22:{\22dtype\22:\22F32\22,\22shape\22:[16,64],\22data_offsets\22:[0,4096]}
// CHECK-SAME: \22b\22:{{[^}]*}}\22data_offsets\22:[4096,4352]
// CHECK-SAME: \22c\22:{{[^}]*}}\22data_offsets\22:[4352,4608]
// CHECK-SAME: parts = "{\22cuts\22: {\22a\22: {{..2, 1., .2, 0..}}, \22c\22: {{..2, -1., .2, 0..}}},
// CHECK-SAME: \22places\22: {\22a\22: 0, \22b\22: 1024, \22c\22: 1280, \22d\22: 1536}, \22bytes\22: 1792}"
// CHECK-SAME: \22name\22: \22k\22, {{.*}}\22cuts\22: {{..2, -1., .2, 1..}}
func.func @main(%a: tensor<16x64xf32> {hirc.weight = "a", hir.spread = ["axis:1", "axis:0"]},
                %b: tensor<64xf32> {hirc.weight = "b", hir.spread = ["axis:0", "whole"]},
                %c: tensor<64xf32> {hirc.weight = "c", hir.spread = ["whole", "axis:0"]},
                %d: tensor<3xf32> {hirc.weight = "d"},
                %k: tensor<8x4xf32> {hirc.state = "k", hirc.zero_init, hir.spread = ["whole", "axis:1"]})
    -> tensor<3xf32> attributes {hir.mesh = array<i64: 2, 2>} {
  return %d : tensor<3xf32>
}
func.func @other(%b: tensor<64xf32> {hirc.weight = "b", hir.spread = ["axis:0"]}, %x: tensor<3xf32>)
    -> tensor<3xf32> attributes {hir.mesh = array<i64: 2>} {
  return %x : tensor<3xf32>
}
