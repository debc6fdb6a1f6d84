"""Programs with weights, and safetensors files for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hirc.compiler.safetensors import Tensor, write_tensors

# y = x W + b, and the W itself.
DENSE = """\
func.func @main(%x: tensor<?x4xf32> {hir.name = "x"},
                %w: tensor<4x3xf32> {hirc.weight = "fc.weight"},
                %b: tensor<3xf32> {hirc.weight = "fc.bias"}) -> (tensor<?x3xf32> {hir.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%n) : tensor<?x3xf32>
  %start = linalg.broadcast ins(%b : tensor<3xf32>) outs(%empty : tensor<?x3xf32>) dimensions = [0]
  %y = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x3xf32>)
                     outs(%start : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
func.func @weight(%w: tensor<4x3xf32> {hirc.weight = "fc.weight"})
    -> (tensor<4x3xf32> {hir.name = "w"}) {
  return %w : tensor<4x3xf32>
}
"""
DTYPES = {
    np.dtype(np.float64): "F64",
    np.dtype(np.float32): "F32",
    np.dtype(np.float16): "F16",
    np.dtype(np.int64): "I64",
    np.dtype(np.int32): "I32",
    np.dtype(np.int16): "I16",
    np.dtype(np.int8): "I8",
    np.dtype(np.uint8): "U8",
    np.dtype(np.bool_): "BOOL",
}
WEIGHT = np.arange(12, dtype=np.float32).reshape(4, 3)
BIAS = np.array([100, 200, 300], np.float32)
VALUES = {"fc.bias": BIAS, "fc.weight": WEIGHT}


def tensor(array: np.ndarray, dtype: str | None = None) -> Tensor:
    """An array as a safetensors file has it; `dtype` is what NumPy has no type for."""
    data = memoryview(np.ascontiguousarray(array).tobytes())
    return Tensor(dtype or DTYPES[array.dtype], array.shape, data)


def write_values(
    path: Path, values: Mapping[str, np.ndarray | Tensor], metadata: Mapping[str, str] | None = None
) -> Path:
    """Writes a safetensors file."""
    tensors = {
        name: value if isinstance(value, Tensor) else tensor(value)
        for name, value in values.items()
    }
    with open(path, "wb") as file:
        write_tensors(file, tensors, metadata or {})
    return path
