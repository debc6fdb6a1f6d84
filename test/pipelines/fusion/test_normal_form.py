"""Which operations are in the form that fusion works on."""

from __future__ import annotations

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.pipelines.fusion.normalize import is_normal
from hirc.pipelines.walking import operations_where

_NAMED = """
func.func @main(%x: tensor<4xf32>, %zero: f32) -> tensor<4xf32> {
  %y = linalg.fill ins(%zero : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""


def test_operations_with_a_name_are_not() -> None:
    module = ir.Module.parse(_NAMED, Session().context)
    (fill,) = operations_where(module.operation, lambda op: op.name == "linalg.fill")
    assert not is_normal(fill)
