"""Convolutions by the library, on the CPU device against torch in f64."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import torch
from products.convolutions_on_gpu import text_of
from products.drawn_convolutions import Drawn, drawn, is_right
from torch import Tensor
from torch.nn import functional

import hirc
from hirc.pipelines.convolutions import choose
from hirc.pipelines.convolutions.convolution import Convolution
from hirc.pipelines.schedules.tables import ConvolutionLibraryTable
from hirc.tools.hirc import main as run_hirc
from support.fake_library import Fake
from support.program_command import Command, build

_COUNT = 24


def check(built: hirc.Library, number: int, each: Drawn) -> None:
    inputs = each.inputs()
    got = built[f"c{number}"](*inputs)
    wanted = each(*(value.double() for value in inputs))
    assert is_right(got, wanted, each.element), each


@pytest.mark.parametrize(("schedules", "least"), [("general", 2), ("tuned", 2), ("general", 1)])
def test_random_convolutions(convolver: Fake, schedules: str, least: int) -> None:
    random = Random(f"convolutions {schedules} {least}")
    torch.manual_seed(0)
    cases = [drawn(random, least) for _ in range(_COUNT)]
    flags = ("-O0", f"--schedules={schedules}", "--convolutions=library")
    built = convolver.linked(text_of(cases), *flags)
    for number, each in enumerate(cases):
        calls = convolver.log(lambda number=number, each=each: check(built, number, each))
        name = "cudnnConvolutionBackwardData" if each.transposed else "cudnnConvolutionForward"
        # A dim of one element is none: what is left may be another one, or a product.
        assert len(calls) <= 1
        assert least == 1 or [call.split(" ")[0] for call in calls] == [name], each


def padded(*widths: int, value: float = 0, mode: str = "constant") -> Callable[[Tensor], Tensor]:
    """Returns what pads an image so."""
    given = (value,) if mode == "constant" else ()
    return lambda x: functional.pad(x, widths, mode, *given)


def rows_last(y: Tensor) -> Tensor:
    """Returns an image with its channels last."""
    return y.permute(0, 2, 3, 1).contiguous()


_SQUARE = ((2, 3, 7, 8), (4, 3, 3, 3))
# What is nearly one that the library computes.
_OWN = (
    Drawn(*_SQUARE, prepare=padded(0, 1, 0, 1)),
    Drawn(*_SQUARE, prepare=padded(1, 1, 2, 1)),
    Drawn(*_SQUARE, 1, 1, element=torch.float64),
    Drawn((2, 3, 7, 8), (3, 4, 3, 3), 2, transposed=True, prepare=padded(0, 1, 0, 1)),
)
# What looks as if it were none. What the library cannot read in place is a copy.
_CALLED = (
    Drawn(*_SQUARE, prepare=padded(1, 1, 1, 1, value=0.5)),
    Drawn(*_SQUARE, prepare=padded(1, 1, 1, 1, mode="reflect")),
    Drawn(*_SQUARE, prepare=lambda x: padded(1, 1, 1, 1)(x).exp()),
    Drawn(*_SQUARE, prepare=lambda x: x[:, :, 1:-1, 2:]),
    Drawn(*_SQUARE, prepare=lambda x: x[:, :, ::2, ::2]),
    Drawn(*_SQUARE, prepare=torch.exp),
    Drawn(*_SQUARE, padding=3),
    Drawn((2, 7, 8, 3), (3, 4, 3, 3), 2, transposed=True, last=True),
    Drawn((2, 3, 7, 8), (3, 3, 3, 4), 2, transposed=True, finish=rows_last, weights_last=True),
    Drawn((2, 7, 8, 3), (4, 3, 3, 3), 2, last=True, weights_last=True),
    Drawn(*_SQUARE, prepare=padded(-1, -1, -2, -1)),
    Drawn((2, 3, 1, 1), (4, 3, 3, 3), padding=1),
    Drawn((2, 3, 1, 1), (3, 4, 3, 3), 2, 1, output_padding=1, transposed=True),
)


def test_near_misses_stay_kernels(convolver: Fake) -> None:
    torch.manual_seed(0)
    built = convolver.linked(text_of((*_OWN, *_CALLED)), "-O0", "--convolutions=library")
    for number, each in enumerate((*_OWN, *_CALLED)):
        calls = convolver.log(lambda number=number, each=each: check(built, number, each))
        assert len(calls) == (number >= len(_OWN)), each


_OPEN = """
func.func @main(%x: tensor<?x3x?x?xf32>, %w: tensor<?x3x3x?xf32>) -> tensor<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  PADDED
  %n = tensor.dim %x, %c0 : tensor<?x3x?x?xf32>
  %f = tensor.dim %w, %c0 : tensor<?x3x3x?xf32>
  %k = tensor.dim %w, %c3 : tensor<?x3x3x?xf32>
  %h = tensor.dim %p, %c2 : tensor<?x3x?x?xf32>
  %l = tensor.dim %p, %c3 : tensor<?x3x?x?xf32>
  %i = affine.apply affine_map<()[h] -> (h - 2)>()[%h]
  %j = affine.apply affine_map<()[l, k] -> (l - k + 1)>()[%l, %k]
  %e = tensor.empty(%n, %f, %i, %j) : tensor<?x?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %y = linalg.conv_2d_nchw_fchw
    ins(%p, %w : tensor<?x3x?x?xf32>, tensor<?x3x3x?xf32>) outs(%z : tensor<?x?x?x?xf32>)
    -> tensor<?x?x?x?xf32>
  return %y : tensor<?x?x?x?xf32>
}
"""
_PADDED = """%p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<?x3x?x?xf32> to tensor<?x3x?x?xf32>"""
_NOT_PADDED = "%p = tensor.cast %x : tensor<?x3x?x?xf32> to tensor<?x3x?x?xf32>"


@pytest.mark.parametrize("is_padded", [False, True])
def test_open_sizes(convolver: Fake, *, is_padded: bool) -> None:
    text = _OPEN.replace("PADDED", _PADDED if is_padded else _NOT_PADDED)
    built = convolver.linked(text, "-O0", "--convolutions=library")
    torch.manual_seed(0)
    for images, filters, height, width, window in (
        (2, 5, 7, 8, 3),
        (1, 2, 3, 9, 1),
        (0, 2, 4, 4, 2),
        (2, 0, 4, 4, 2),
        (2, 5, 7, 8, 3),
    ):
        x, w = torch.randn(images, 3, height, width), torch.randn(filters, 3, 3, window)
        got: list[Tensor] = []
        calls = convolver.log(lambda x=x, w=w, got=got: got.append(built.main(x, w)))
        assert len(calls) == (0 not in (images, filters))
        if 0 in (images, filters):
            wanted = torch.empty(images, filters, *got[0].shape[2:]).double()
        else:
            wanted = functional.conv2d(x.double(), w.double(), padding=int(is_padded))
        assert got[0].shape == wanted.shape
        assert torch.allclose(got[0].double(), wanted, atol=1e-5)


_TWICE = Drawn((2, 3, 9, 8), (4, 3, 3, 3), 1, 1, bias=True, finish=torch.relu)


@pytest.mark.parametrize("graph", ["always", "never"])
def test_calls_of_one_place_share_a_plan(convolver: Fake, graph: str) -> None:
    torch.manual_seed(0)
    flags = ("-O0", "--convolutions=library", f"--graph={graph}")
    built = convolver.linked(text_of([_TWICE]), *flags)
    lines = convolver.lines(lambda: [check(built, 0, _TWICE) for _ in range(4)])
    assert sum("Algorithm" in line for line in lines) == 1


@pytest.mark.parametrize(
    ("element", "flags", "call"),
    [
        (torch.float32, (), "algorithm 1 math 3 type 0"),
        (torch.float32, ("--float32-products=tf32",), "algorithm 1 math 1 type 0"),
        (torch.float32, ("--float32-products=winograd",), "algorithm 5 math 3 type 0"),
        (torch.bfloat16, ("--float32-products=winograd",), "algorithm 1 math 1 type 9"),
        (torch.float16, (), "algorithm 1 math 1 type 2"),
    ],
)
def test_what_may_be_rounded_and_transformed(
    convolver: Fake, element: torch.dtype, flags: tuple[str, ...], call: str
) -> None:
    each = Drawn((2, 3, 9, 8), (4, 3, 3, 3), 1, 1, element=element)
    built = convolver.linked(text_of([each]), "-O0", "--convolutions=library", *flags)
    (made,) = convolver.log(lambda: built["c0"](*each.inputs()))
    assert call in made


def test_a_command_calls_the_library(
    convolver: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
func.func @main(%x: tensor<1x1x4xf32> {hir.name = "x"}, %w: tensor<1x1x2xf32> {hir.name = "w"})
    -> (tensor<1x1x3xf32> {hir.name = "y"}) {
  %b = arith.constant dense<0.5> : tensor<1x1x3xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x1x4xf32>, tensor<1x1x2xf32>)
                              outs(%b : tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  return %y : tensor<1x1x3xf32>
}
"""
    command = Command(build(text, tmp_path / "command", "--emit=exe", "--convolutions=library"))
    words = ("--input=x=@iota", "--input=w=@iota")
    assert "1.5 2.5 3.5" in command.succeeds(*words)
    monkeypatch.setenv("FAKE_LIBRARY_FAIL", "cudnnConvolutionForward 3000")
    ran = command(*words)
    assert ran.status == 1
    assert re.match(
        r".*command\.mlir:5:\d+: error: cudnnConvolutionForward failed: CUDNN_STATUS_NOT_SUPPORTED "
        r"\(3000\), of cuDNN 91002: the reason that the stand-in gives\n",
        ran.errors,
    )


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A transposed convolution, as it is built for a GPU where the library is to compute such."""
    folder = tmp_path_factory.mktemp("chosen")
    source, output = folder / "source.mlir", folder / "host_ir.mlir"
    source.write_text(text_of([_TRANSPOSED]))
    words = [str(source), "--emit=shared", "--offload-arch=sm_90a", "--stop-after=compute", "-o"]
    assert run_hirc([*words, str(output)]) == 0
    # None is known to take less time.
    assert "cuDNN" not in output.read_text()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConvolutionLibraryTable, "is_ever_faster", True)
        patch.setattr(choose, "is_faster", _is_gradient)
        assert run_hirc([*words, str(output)]) == 0
    return output.read_text()


def _is_gradient(convolution: Convolution, _: object) -> bool:
    return convolution.is_gradient


_TRANSPOSED = Drawn((2, 3, 9, 8), (3, 4, 3, 3), 2, 1, transposed=True, bias=True, finish=torch.relu)


@pytest.mark.parametrize("is_there", [True, False])
def test_auto(
    chosen: str, convolver: Fake, monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    if not is_there:
        monkeypatch.setenv("HIRC_CUDNN", "")
    # Whether the library is there is known of each program once.
    built = convolver.linked(f"// {is_there}\n{chosen}", "-O0", "--schedules=tuned")
    torch.manual_seed(0)
    calls = convolver.log(lambda: check(built, 0, _TRANSPOSED))
    assert len(calls) == is_there
