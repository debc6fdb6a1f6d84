"""Bodies that are deep expressions: no recursion over them, and none of their values twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from hirc.tools.bench_scale_programs import expression
from hirc.tools.hirc import main

_SQUARES = 40


def _squares() -> str:
    """A softmax-like body whose values are each the square of the one before."""
    lines = [f"%v{i + 1} = arith.mulf %v{i}, %v{i} : f32" for i in range(_SQUARES)]
    return f"""
#m = affine_map<(r, c) -> (r, c)>
#r = affine_map<(r, c) -> (r)>
func.func @main(%x: tensor<64x4096xf32>, %b: tensor<64xf32>) -> tensor<64x4096xf32> {{
  %e = tensor.empty() : tensor<64x4096xf32>
  %y = linalg.generic {{indexing_maps = [#m, #r, #m], iterator_types = ["parallel", "reduction"]}}
      ins(%x, %b : tensor<64x4096xf32>, tensor<64xf32>) outs(%e : tensor<64x4096xf32>) {{
  ^bb0(%a: f32, %k: f32, %u: f32):
    %s = "hir.reduce_loops"(%a) {{kind = "addf", loops = array<i64: 1>}} : (f32) -> f32
    %v0 = arith.mulf %a, %k : f32
    {chr(10).join(lines)}
    %w = arith.divf %v{_SQUARES}, %s : f32
    linalg.yield %w : f32
  }} -> tensor<64x4096xf32>
  return %y : tensor<64x4096xf32>
}}"""


@pytest.mark.parametrize("arch", ["sm_90a", "cpu"])
@pytest.mark.parametrize("text", [expression(400), _squares()], ids=["deep", "squares"])
def test_is_scheduled(text: str, arch: str, tmp_path: Path) -> None:
    source, result = tmp_path / "deep.mlir", tmp_path / "out.mlir"
    source.write_text(text)
    options = [f"--offload-arch={arch}", "--stop-after=schedules", "-o", str(result)]
    assert main([str(source), *options]) == 0
    assert "gpu.func" in result.read_text()
