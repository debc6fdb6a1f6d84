"""Programs built for GPUs compute their products where cuBLASLt is there, and where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from host_ir.libraries import library

from hirc.tools.hirc import main as run_hirc
from support.fake_library import Fake

_SOURCE = """
func.func @NAME(%x: tensor<?x136xbf16>, %w: tensor<136x264xbf16>, %y: tensor<32x136xf32>,
                %v: tensor<136x264xf32>) -> (tensor<?x264xf32>, tensor<32x264xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x136xbf16>
  %e = tensor.empty(%m) : tensor<?x264xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x264xf32>) -> tensor<?x264xf32>
  %a = linalg.matmul ins(%x, %w : tensor<?x136xbf16>, tensor<136x264xbf16>)
    outs(%f : tensor<?x264xf32>) -> tensor<?x264xf32>
  %g = tensor.empty() : tensor<32x264xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<32x264xf32>) -> tensor<32x264xf32>
  %p = linalg.matmul ins(%y, %v : tensor<32x136xf32>, tensor<136x264xf32>)
    outs(%h : tensor<32x264xf32>) -> tensor<32x264xf32>
  return %a, %p : tensor<?x264xf32>, tensor<32x264xf32>
}
"""


@pytest.fixture(scope="module")
def host_ir(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program after products have become calls, as it is built for a GPU."""
    folder = tmp_path_factory.mktemp("fallback")
    source, output = folder / "source.mlir", folder / "host_ir.mlir"
    source.write_text(_SOURCE)
    words = ["--stop-after=compute", "--emit=shared", "--offload-arch=sm_90a", "-o", str(output)]
    assert run_hirc([str(source), *words]) == 0
    return output.read_text()


@pytest.mark.parametrize("is_there", [True, False])
def test_products(
    host_ir: str, fake: Fake, monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    flags = ("-O0", "--schedules=tuned")
    # Whether the library is there is known of each program once.
    name = f"program_{is_there}".lower()
    text = host_ir.replace("NAME", name)
    if is_there:
        programs = fake.library(text, *flags, products="auto")
    else:
        monkeypatch.setenv("HIRC_CUBLASLT", "")
        programs = library(text, *flags)
    torch.manual_seed(0)
    w, y, v = torch.randn(136, 264).bfloat16(), torch.randn(32, 136), torch.randn(136, 264)
    for rows, calls in ((150, 2), (5, 1)):
        x = torch.randn(rows, 136).bfloat16()
        got: list[torch.Tensor] = []
        log = fake.log(lambda x=x, got=got: got.extend(programs[name](x, w, y, v)))
        assert len(log) == (calls if is_there else 0)
        for one, wanted in zip(
            got, (x.double() @ w.double(), y.double() @ v.double()), strict=True
        ):
            assert torch.allclose(one.double(), wanted, atol=1e-4)


def test_calls_that_are_asked_for_have_no_other_way(tmp_path: Path) -> None:
    source, output = tmp_path / "source.mlir", tmp_path / "host_ir.mlir"
    source.write_text(_SOURCE)
    words = ["--stop-after=compute", "--emit=shared", "--offload-arch=sm_90a", "-o", str(output)]
    assert run_hirc([str(source), "--products=library", *words]) == 0
    assert "hir.library_matmul" in output.read_text()
    assert "hir.has_library" not in output.read_text()
