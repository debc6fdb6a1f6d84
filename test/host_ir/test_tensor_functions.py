"""Functions on tensors: each operation, through a library for the CPU device, against torch."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from host_ir.libraries import library
from torch.nn import functional

import hirc
from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.tools.hirc import main as run_hirc
from support.fake_library import Fake

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("tensor_functions")

_UNIT = "{strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}"
_SPREAD = "{strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>}"


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def kind_of(tensor: torch.Tensor) -> str:
    name = {
        torch.float32: "f32",
        torch.float64: "f64",
        torch.float16: "f16",
        torch.bfloat16: "bf16",
        torch.int64: "i64",
        torch.int32: "i32",
        torch.int8: "i8",
        torch.bool: "i1",
        torch.uint8: "ui8",
        torch.complex64: "complex<f32>",
    }[tensor.dtype]
    return f"tensor<{''.join(f'{size}x' for size in tensor.shape)}{name}>"


class Case:
    """A function of the module under test, what it is called with, and what it must give."""

    def __init__(self, text: str, inputs: list[Any], *wanted: Any) -> None:
        self.text = text
        self.inputs = inputs
        self.wanted = wanted


def named(op: str, inputs: list[torch.Tensor], wanted: torch.Tensor, start: str = "0.0") -> Case:
    """A function of one named operation, whose output begins as `start`."""
    kinds = [kind_of(each) for each in inputs]
    taken = ", ".join(f"%a{place}: {kind}" for place, kind in enumerate(kinds))
    values = ", ".join(f"%a{place}" for place in range(len(kinds)))
    out = kind_of(wanted)
    element = out[:-1].rpartition("x")[2].removeprefix("tensor<")
    text = f"""func.func @NAME({taken}) -> {out} {{
      %start = arith.constant {start} : {element}
      %empty = tensor.empty() : {out}
      %filled = linalg.fill ins(%start : {element}) outs(%empty : {out}) -> {out}
      %r = {op} ins({values} : {", ".join(kinds)}) outs(%filled : {out}) -> {out}
      return %r : {out}
    }}"""
    return Case(text, list(inputs), wanted)


def pooled(op: str, x: torch.Tensor, wanted: torch.Tensor, start: str) -> Case:
    text = f"""func.func @NAME(%x: {kind_of(x)}) -> {kind_of(wanted)} {{
      %window = tensor.empty() : tensor<3x2xf32>
      %start = arith.constant {start} : f32
      %empty = tensor.empty() : {kind_of(wanted)}
      %filled = linalg.fill ins(%start : f32) outs(%empty : {kind_of(wanted)}) -> {kind_of(wanted)}
      %r = {op} {{strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}}
        ins(%x, %window : {kind_of(x)}, tensor<3x2xf32>)
        outs(%filled : {kind_of(wanted)}) -> {kind_of(wanted)}
      return %r : {kind_of(wanted)}
    }}"""
    return Case(text, [x], wanted)


def products() -> dict[str, Case]:
    a, b, vector = numbers(3, 5), numbers(5, 7, seed=1), numbers(5, seed=2)
    batch, other = numbers(2, 3, 5), numbers(2, 5, 7, seed=1)
    small, wide = torch.arange(-7, 8, dtype=torch.int8).reshape(3, 5) * 18, torch.int32
    maps = "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>"
    transposed = f"indexing_maps = [{maps}, affine_map<(m, n, k) -> (m, n)>]"
    right = small.T.contiguous()
    return {
        "matmul": named("linalg.matmul", [a, b], a @ b),
        "matmul_transposed": named(f"linalg.matmul {transposed}", [a, b.T.contiguous()], a @ b),
        "matmul_f16": named(
            "linalg.matmul", [a.half(), b.half()], a.half().float() @ b.half().float()
        ),
        "matmul_i8": named("linalg.matmul", [small, right], small.to(wide) @ right.to(wide), "0"),
        "batch_matmul": named("linalg.batch_matmul", [batch, other], batch @ other),
        "batch_reduce": named("linalg.batch_reduce_matmul", [batch, other], (batch @ other).sum(0)),
        "matvec": named("linalg.matvec", [a, vector], a @ vector),
        "dot": named("linalg.dot", [vector, vector], vector @ vector),
        "divide": named("linalg.div", [a, a + 9], a / (a + 9)),
        "erf": named("linalg.erf", [a], torch.erf(a)),
    }


def convolutions() -> dict[str, Case]:
    x, w = numbers(2, 3, 9, 10), numbers(4, 3, 3, 2, seed=1)
    y = functional.conv2d(x, w, stride=(2, 1), dilation=(1, 2))
    last = x.permute(0, 2, 3, 1).contiguous()
    deep, mean = numbers(3, 3, 2, seed=2), functional.avg_pool2d(x, (3, 2), 2) * 6
    depthwise = functional.conv2d(x, deep[:, None], groups=3)
    most = functional.max_pool2d(x, (3, 2), 2)
    least = -functional.max_pool2d(-x, (3, 2), 2)
    return {
        "nchw": named(f"linalg.conv_2d_nchw_fchw {_SPREAD}", [x, w], y),
        "nhwc": named(
            f"linalg.conv_2d_nhwc_hwcf {_SPREAD}",
            [last, w.permute(2, 3, 1, 0).contiguous()],
            y.permute(0, 2, 3, 1),
        ),
        "depthwise": named(f"linalg.depthwise_conv_2d_nchw_chw {_UNIT}", [x, deep], depthwise),
        # The window is a shape: nobody writes to it.
        "pool_max": pooled("linalg.pooling_nchw_max", x, most, "0xFF800000"),
        "pool_sum": pooled("linalg.pooling_nchw_sum", x, mean, "0.0"),
        "pool_min": pooled(
            "linalg.pooling_nhwc_min", last, least.permute(0, 2, 3, 1).contiguous(), "0x7F800000"
        ),
    }


def decomposed() -> dict[str, Case]:
    x, tall = numbers(3, 4), numbers(15, 9)
    padded = functional.pad(tall, (0, 0, 0, 1), value=7.0)
    return {
        "softmax": Case(
            """func.func @NAME(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %m = tensor.dim %x, %c0 : tensor<?x?xf32>
              %n = tensor.dim %x, %c1 : tensor<?x?xf32>
              %e = tensor.empty(%m, %n) : tensor<?x?xf32>
              %r = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>)
                outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
              return %r : tensor<?x?xf32>
            }""",
            [x],
            functional.softmax(x, 1),
        ),
        "pack": Case(
            """func.func @NAME(%x: tensor<15x9xf32>, %p: f32) -> tensor<4x3x4x3xf32> {
              %e = tensor.empty() : tensor<4x3x4x3xf32>
              %r = linalg.pack %x padding_value(%p : f32) inner_dims_pos = [0, 1]
                inner_tiles = [4, 3] into %e : tensor<15x9xf32> -> tensor<4x3x4x3xf32>
              return %r : tensor<4x3x4x3xf32>
            }""",
            [tall, 7.0],
            padded.reshape(4, 4, 3, 3).permute(0, 2, 1, 3),
        ),
        "unpack": Case(
            """func.func @NAME(%x: tensor<4x3x4x3xf32>) -> tensor<15x9xf32> {
              %e = tensor.empty() : tensor<15x9xf32>
              %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [4, 3]
                into %e : tensor<4x3x4x3xf32> -> tensor<15x9xf32>
              return %r : tensor<15x9xf32>
            }""",
            [padded.reshape(4, 4, 3, 3).permute(0, 2, 1, 3).contiguous()],
            tall,
        ),
        "pad": Case(
            """func.func @NAME(%x: tensor<?x4xf32>, %n: index) -> tensor<?x9xf32> {
              %z = arith.constant 0.0 : f32
              %r = tensor.pad %x low[%n, 2] high[2, 3] {
              ^bb0(%i: index, %j: index):
                tensor.yield %z : f32
              } : tensor<?x4xf32> to tensor<?x9xf32>
              return %r : tensor<?x9xf32>
            }""",
            [x, 1],
            functional.pad(x, (2, 3, 1, 2)),
        ),
        "concat": Case(
            """func.func @NAME(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
              %r = tensor.concat dim(0) %x, %y
                : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
              return %r : tensor<?x4xf32>
            }""",
            [x, x[:2] + 1],
            torch.cat([x, x[:2] + 1]),
        ),
    }


def controlled() -> dict[str, Case]:
    x, row = numbers(3, 4), numbers(4, seed=1)
    changed = row.clone()
    changed[2] = 7
    above = torch.stack([row[row > each].sum() for each in x.flatten()]).reshape(3, 4)
    return {
        "loop_in_a_body": Case(
            """func.func @NAME(%x: tensor<3x4xf32>, %row: tensor<4xf32>) -> tensor<3x4xf32> {
              %e = tensor.empty() : tensor<3x4xf32>
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %c4 = arith.constant 4 : index
              %r = linalg.map ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>)
                (%p: f32, %o: f32) {
                  %n = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %p) -> f32 {
                    %q = tensor.extract %row[%i] : tensor<4xf32>
                    %is = arith.cmpf ogt, %q, %p : f32
                    %more = scf.if %is -> f32 {
                      %t = arith.addf %sum, %q : f32
                      scf.yield %t : f32
                    } else {
                      scf.yield %sum : f32
                    }
                    scf.yield %more : f32
                  }
                  linalg.yield %n : f32
                }
              return %r : tensor<3x4xf32>
            }""",
            [x, row],
            x + above,
        ),
        "affine_loop": Case(
            """func.func @NAME(%x: tensor<4xf32>) -> tensor<4xf32> {
              %r = affine.for %i = 0 to 3 iter_args(%p = %x) -> tensor<4xf32> {
                %s = arith.addf %p, %p : tensor<4xf32>
                affine.yield %s : tensor<4xf32>
              }
              return %r : tensor<4xf32>
            }""",
            [row],
            row * 8,
        ),
        "branch_that_gives_an_input": Case(
            """func.func @NAME(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
              %r = scf.if %c -> tensor<4xf32> {
                %s = arith.addf %x, %x : tensor<4xf32>
                scf.yield %s : tensor<4xf32>
              } else {
                scf.yield %x : tensor<4xf32>
              }
              return %r : tensor<4xf32>
            }""",
            [row, False],
            row,
        ),
        "branch_that_updates_in_place": Case(
            """func.func @NAME(%x: tensor<4xf32>, %v: f32, %c: i1) -> tensor<4xf32> {
              %c0 = arith.constant 0 : index
              %a = math.exp %x : tensor<4xf32>
              %b = math.absf %x : tensor<4xf32>
              %r = scf.if %c -> tensor<4xf32> {
                %t = tensor.insert %v into %a[%c0] : tensor<4xf32>
                scf.yield %t : tensor<4xf32>
              } else {
                scf.yield %b : tensor<4xf32>
              }
              return %r : tensor<4xf32>
            }""",
            [row, 3.5, True],
            torch.cat((torch.tensor([3.5]), torch.exp(row[1:]))),
        ),
        "branch_that_gives_a_constant": Case(
            """func.func @NAME(%x: tensor<f32>, %c: i1, %d: i1) -> tensor<f32> {
              %k = arith.constant dense<2.0> : tensor<f32>
              %e = tensor.empty() : tensor<f32>
              %y = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>],
                                   iterator_types = []}
                  ins(%x : tensor<f32>) outs(%e : tensor<f32>) {
              ^bb0(%p: f32, %o: f32):
                %q = arith.addf %p, %p : f32
                linalg.yield %q : f32
              } -> tensor<f32>
              %r = scf.if %c -> tensor<f32> {
                %s = scf.if %d -> tensor<f32> {
                  scf.yield %k : tensor<f32>
                } else {
                  scf.yield %y : tensor<f32>
                }
                scf.yield %s : tensor<f32>
              } else {
                %z = math.exp %y : tensor<f32>
                scf.yield %z : tensor<f32>
              }
              return %r : tensor<f32>
            }""",
            [torch.tensor(1.5), True, False],
            torch.tensor(3.0),
        ),
        "branch_that_gives_one_twice": Case(
            """func.func private @same_NAME(%x: tensor<4xf32>) -> tensor<4xf32> {
              return %x : tensor<4xf32>
            }
            func.func @NAME(%x: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
              %r:2 = scf.if %c -> (tensor<4xf32>, tensor<4xf32>) {
                %s = math.exp %x : tensor<4xf32>
                scf.yield %s, %s : tensor<4xf32>, tensor<4xf32>
              } else {
                %s = math.absf %x : tensor<4xf32>
                %t = func.call @same_NAME(%x) : (tensor<4xf32>) -> tensor<4xf32>
                scf.yield %s, %t : tensor<4xf32>, tensor<4xf32>
              }
              return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
            }""",
            [row, False],
            row.abs(),
            row,
        ),
        "choice_of_tensors": Case(
            """func.func @NAME(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
              %a = math.exp %x : tensor<4xf32>
              %b = math.absf %x : tensor<4xf32>
              %r = arith.select %c, %a, %b : tensor<4xf32>
              return %r : tensor<4xf32>
            }""",
            [row, False],
            row.abs(),
        ),
        "nothing_collapsed": Case(
            """func.func @NAME(%x: tensor<?x0x?xf32>) -> (tensor<?xf32>, tensor<?x2x?xf32>) {
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %n = tensor.dim %x, %c0 : tensor<?x0x?xf32>
              %y = tensor.collapse_shape %x [[0, 1, 2]] : tensor<?x0x?xf32> into tensor<?xf32>
              %z = tensor.expand_shape %y [[0, 1, 2]] output_shape [%c0, 2, %n]
                  : tensor<?xf32> into tensor<?x2x?xf32>
              return %y, %z : tensor<?xf32>, tensor<?x2x?xf32>
            }""",
            [torch.zeros(3, 0, 2)],
            torch.zeros(0),
            torch.zeros(0, 2, 3),
        ),
        "insert": Case(
            """func.func @NAME(%x: tensor<4xf32>, %v: f32, %i: index) -> tensor<4xf32> {
              %r = tensor.insert %v into %x[%i] : tensor<4xf32>
              return %r : tensor<4xf32>
            }""",
            [row, 7.0, 2],
            changed,
        ),
        "choice_of_constants": Case(
            """func.func @NAME(%c: i1) -> tensor<4xf32> {
              %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
              %y = arith.constant dense<2.0> : tensor<4xf32>
              %r = scf.if %c -> tensor<4xf32> {
                scf.yield %x : tensor<4xf32>
              } else {
                scf.yield %y : tensor<4xf32>
              }
              return %r : tensor<4xf32>
            }""",
            [False],
            torch.full((4,), 2.0),
        ),
        "scalar_function": Case(
            """func.func private @twice(%n: index) -> index {
              %m = arith.addi %n, %n : index
              return %m : index
            }
            func.func @NAME(%n: index, %v: f32) -> tensor<?xf32> {
              %m = call @twice(%n) : (index) -> index
              %r = tensor.splat %v[%m] : tensor<?xf32>
              return %r : tensor<?xf32>
            }""",
            [3, 1.5],
            torch.full((6,), 1.5),
        ),
    }


def partly_written() -> dict[str, Case]:
    """Operations that do not write every element of what they are given as an output."""
    x, w = numbers(4), numbers(3, 4, seed=1)
    row, last, beside, diagonal = w.clone(), w.clone(), w.clone(), w[:, :3].clone()
    row[0] += x
    last[2] = x * x
    diagonal[range(3), range(3)] = x[:3] * x[:3]
    beside[range(3), range(1, 4)] = x[:3] * x[:3]

    def written(index: str, wanted: torch.Tensor, kind: str, given: str, body: str) -> Case:
        text = f"""func.func @NAME(%x: {given}, %w: {kind}) -> {kind} {{
          %y = linalg.generic {{
            indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ({index})>],
            iterator_types = ["parallel"]}} ins(%x : {given}) outs(%w : {kind}) {{
          ^bb0(%a: f32, %b: f32):
            %s = {body} : f32
            linalg.yield %s : f32
          }} -> {kind}
          %z = arith.negf %y : {kind}
          return %z : {kind}
        }}"""
        return Case(text, [x[: int(given[7])], w[:, : wanted.shape[1]].contiguous()], -wanted)

    square, kind = "arith.mulf %a, %a", "tensor<3x4xf32>"
    return {
        "row_added_to": written("0, i", row, kind, "tensor<4xf32>", "arith.addf %a, %b"),
        "row_of_open_size": written("2, i", last, "tensor<?x4xf32>", "tensor<4xf32>", square),
        "diagonal": written("i, i", diagonal, kind_of(diagonal), "tensor<3xf32>", square),
        "beside_the_diagonal": written("i, i + 1", beside, kind, "tensor<3xf32>", square),
        # What is padded has one row, which the other operand's type says alone.
        "open_size_of_one": Case(
            """func.func @NAME(%n: index, %x: tensor<1x4xf32>) -> tensor<3x4xf32> {
              %zero = arith.constant 0.0 : f32
              %e = tensor.empty(%n) : tensor<?x4xf32>
              %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                  affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
                  ins(%x : tensor<1x4xf32>) outs(%e : tensor<?x4xf32>) {
              ^bb0(%a: f32, %o: f32):
                %s = arith.mulf %a, %a : f32
                linalg.yield %s : f32
              } -> tensor<?x4xf32>
              %p = tensor.pad %y low[2, 0] high[0, 0] {
              ^bb0(%i: index, %j: index):
                tensor.yield %zero : f32
              } : tensor<?x4xf32> to tensor<?x4xf32>
              %r = tensor.cast %p : tensor<?x4xf32> to tensor<3x4xf32>
              return %r : tensor<3x4xf32>
            }""",
            [1, x[None]],
            torch.cat([torch.zeros(2, 4), (x * x)[None]]),
        ),
        # That nothing is reduced is seen when the reshapes are gone.
        "reduction_of_no_elements": Case(
            """func.func @NAME(%n: index, %x: tensor<?x0x?xi1>, %k: index) -> tensor<1xi1> {
              %true = arith.constant dense<true> : tensor<1xi1>
              %f = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x0x?xi1> into tensor<?x?xi1>
              %e = tensor.expand_shape %f [[0, 1], [2, 3]] output_shape [%n, 1, %k, 1]
                  : tensor<?x?xi1> into tensor<?x1x?x1xi1>
              %r = linalg.reduce { arith.andi } ins(%e : tensor<?x1x?x1xi1>)
                  outs(%true : tensor<1xi1>) dimensions = [0, 2, 3]
              return %r : tensor<1xi1>
            }""",
            [3, torch.zeros(3, 0, 2, dtype=torch.bool), 0],
            torch.tensor([True]),
        ),
        "slice_at_no_multiple_of_a_vector": Case(
            """func.func @NAME(%x: tensor<8xi64>, %y: tensor<64xi64>) -> tensor<64xi64> {
              %r = tensor.insert_slice %x into %y[37] [8] [1] : tensor<8xi64> into tensor<64xi64>
              return %r : tensor<64xi64>
            }""",
            [torch.arange(8), -torch.ones(64, dtype=torch.int64)],
            torch.cat([-torch.ones(37), torch.arange(8), -torch.ones(19)]).long(),
        ),
    }


def constants() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for values, text in (
        (torch.tensor([1, 2.5, -3]), "[1.0, 2.5, -3.0]"),
        (torch.tensor([1, 2.5, -3]).bfloat16(), "[1.0, 2.5, -3.0]"),
        (torch.tensor([1, 2.5, -3]).half(), "2.5"),
        (torch.tensor([1, -2, 3], dtype=torch.int8), "[1, -2, 3]"),
        (torch.tensor([True, False, True]), "[true, false, true]"),
        (torch.tensor([1 + 2j, -1j, 3]), "[(1.0, 2.0), (0.0, -1.0), (3.0, 0.0)]"),
        (torch.zeros(0, 3), ""),
    ):
        kind = kind_of(values)
        wanted = torch.full_like(values, 2.5) if text == "2.5" else values
        found[f"constant{len(found)}"] = Case(
            f"""func.func @NAME() -> {kind} {{
              %r = arith.constant dense<{text}> : {kind}
              return %r : {kind}
            }}""",
            [],
            wanted,
        )
    for values in (torch.tensor([[1], [200], [3]], dtype=torch.uint8), numbers(3, 1) * (1 + 2j)):
        kind, turned = kind_of(values), kind_of(values.T)
        found[f"moved{len(found)}"] = Case(
            f"""func.func @NAME(%x: {kind}) -> {turned} {{
              %e = tensor.empty() : {turned}
              %r = linalg.transpose ins(%x : {kind}) outs(%e : {turned}) permutation = [1, 0]
              return %r : {turned}
            }}""",
            [values],
            values.T,
        )
    return found


CASES = {
    **products(),
    **convolutions(),
    **decomposed(),
    **controlled(),
    **partly_written(),
    **constants(),
}


PRODUCTS = {name: case for name, case in CASES.items() if name in products()}


@pytest.mark.parametrize("name", CASES)
def test_a_function_gives_what_torch_gives(name: str) -> None:
    # Tuned as for -O2, which takes four times as long; what it does is the random programs' part.
    check(library(text_of(CASES), "-O0", "--schedules=tuned"), name)


def test_library_and_executable_give_what_torch_gives(tmp_path: Path) -> None:
    """A function that calls every fifth one, saved and as a command: of types that files have."""
    taken = {
        name: case
        for name, case in list(CASES.items())[::5]
        if all(
            isinstance(each, torch.Tensor) and each.dtype != torch.bfloat16
            for each in (*case.inputs, *case.wanted)
        )
    }
    assert len(taken) > 5
    built = library(_calling_all(taken), "-O0", "--schedules=tuned")
    built.save(tmp_path / "library.so")
    built.executable(tmp_path / "command")
    inputs = [each.contiguous() for case in taken.values() for each in case.inputs]
    wanted = [each for case in taken.values() for each in case.wanted]
    words: list[Any] = [tmp_path / "command"]
    for place, value in enumerate(inputs):
        np.save(tmp_path / f"in{place}.npy", value.numpy())
        words.append(f"--input={tmp_path}/in{place}.npy")
    words += [f"--output={tmp_path}/out{place}.npy" for place in range(len(wanted))]
    subprocess.run(words, check=True, timeout=120)
    written = [torch.from_numpy(np.load(tmp_path / f"out{i}.npy")) for i in range(len(wanted))]
    ways = (built.main(*inputs), hirc.load(tmp_path / "library.so").main(*inputs), written)
    for results in ways:
        for result, right in zip(results, wanted, strict=True):
            torch.testing.assert_close(result, right, check_stride=False)


def test_the_interpreter_gives_what_torch_gives(tmp_path: Path) -> None:
    """Of what all functions are as host programs."""
    source, lowered = tmp_path / "functions.mlir", tmp_path / "lowered.mlir"
    source.write_text(text_of(CASES))
    flags = ["--emit=shared", "--offload-arch=cpu", "--stop-after=functions"]
    assert run_hirc([str(source), "-o", str(lowered), *flags]) == 0
    module = ir.Module.parse(lowered.read_text(), Session().context)
    for name, case in CASES.items():
        given = [each.clone() if isinstance(each, torch.Tensor) else each for each in case.inputs]
        results = hirc.interpret(module, given, entry=name)
        for result, wanted in zip(results, case.wanted, strict=True):
            torch.testing.assert_close(result, wanted, check_stride=False, msg=name)


def _calling_all(cases: dict[str, Case]) -> str:
    """The cases' functions, and one that calls them all: with all inputs, for all outputs."""
    module = ir.Module.parse(text_of(cases), Session().context)
    calls: list[str] = []
    taken: list[str] = []
    given: list[tuple[str, str]] = []
    for op in module.body:
        name = ir.StringAttr(op.operation.attributes["sym_name"]).value
        kind = ir.FunctionType(ir.TypeAttr(op.operation.attributes["function_type"]).value)
        arguments = ", ".join(f"%x{len(taken) + place}" for place in range(len(kind.inputs)))
        calls.append(f"%{name}:{len(kind.results)} = func.call @{name}({arguments}) : {kind}")
        taken += map(str, kind.inputs)
        given += [(f"%{name}#{place}", str(each)) for place, each in enumerate(kind.results)]
        op.operation.attributes["sym_visibility"] = ir.StringAttr.get("private", module.context)
    functions = "\n".join(str(op) for op in module.body)
    declared = ", ".join(f"%x{place}: {kind}" for place, kind in enumerate(taken))
    values, kinds = (", ".join(each) for each in zip(*given, strict=True))
    body = "\n".join([*calls, f"return {values} : {kinds}"])
    return f"{functions}\nfunc.func @main({declared}) -> ({kinds}) {{\n{body}\n}}\n"


def test_products_by_the_library_give_what_torch_gives(fake: Fake) -> None:
    built = fake.library(text_of(PRODUCTS), "-O0")
    calls = fake.log(lambda: [check(built, name) for name in PRODUCTS])
    # Not the quotient, the error function, integers, and sums over dims that do not lie as one.
    assert len(calls) == len(PRODUCTS) - 4


def text_of(cases: dict[str, Case]) -> str:
    return "\n".join(case.text.replace("NAME", each) for each, case in cases.items())


def check(built: hirc.Library, name: str) -> None:
    """Calls one function and compares what it gives."""
    case = CASES[name]
    got = built[name](*case.inputs)
    results = got if isinstance(got, tuple) else (got,)
    for result, wanted in zip(results, case.wanted, strict=True):
        found = result if isinstance(result, torch.Tensor) else torch.from_dlpack(result)
        torch.testing.assert_close(found, wanted, check_stride=False)


def test_outputs_that_numpy_has_no_type_for_have_dlpack() -> None:
    text = """func.func @main(%k: f32) -> tensor<2xbf16> {
      %n = arith.truncf %k : f32 to bf16
      %r = tensor.splat %n : tensor<2xbf16>
      return %r : tensor<2xbf16>
    }"""
    output = library(text).main(2.5)
    assert torch.from_dlpack(output).tolist() == [2.5, 2.5]
    assert np.asarray(library(text.replace("bf16", "f16")).main(2.5)).tolist() == [2.5, 2.5]
