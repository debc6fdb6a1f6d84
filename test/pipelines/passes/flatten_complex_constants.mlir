// RUN: hirc-opt %s -p 'flatten-complex-constants' | FileCheck %s

// CHECK: llvm.mlir.global private constant @list(dense<[1.000000e+00, 2.000000e+00, -0.000000e+00, 0xFF800000]> : tensor<4xf32>) {{.*}}: !llvm.array<4 x f32>
llvm.mlir.global private constant @list(dense<[(1.0,2.0), (-0.0,0xFF800000)]> : tensor<2xcomplex<f32>>) {alignment = 64 : i64} : !llvm.array<2 x struct<(f32, f32)>>

// CHECK: @table(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]> : tensor<8xf64>)
llvm.mlir.global private constant @table(dense<[[(1.0,2.0), (3.0,4.0)], [(5.0,6.0), (7.0,8.0)]]> : tensor<2x2xcomplex<f64>>) : !llvm.array<2 x array<2 x struct<(f64, f64)>>>

// CHECK: @same(dense<[1.500000e+00, 2.000000e+00, 1.500000e+00, 2.000000e+00, 1.500000e+00, 2.000000e+00]> : tensor<6xf16>)
llvm.mlir.global private constant @same(dense<(1.5,2.0)> : tensor<3xcomplex<f16>>) : !llvm.array<3 x struct<(f16, f16)>>

// CHECK: @bytes(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>)
llvm.mlir.global private constant @bytes(dense<"0x0000803F000000400000404000008040"> : tensor<2xcomplex<f32>>) : !llvm.array<2 x struct<(f32, f32)>>

// What has no complex numbers stays.
// CHECK: @plain(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>)
llvm.mlir.global private constant @plain(dense<[1.0, 2.0]> : tensor<2xf32>) : !llvm.array<2 x f32>
