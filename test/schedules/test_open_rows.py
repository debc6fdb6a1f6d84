"""Kernels for rows and columns of open sizes, which are few and small, and very tall grids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from host_ir.libraries import library

from hirc.tools.bench_kernels.catalogue import rows
from hirc.tools.bench_kernels.row import DYNAMIC
from hirc.tools.bench_kernels.text import program_text
from hirc.tools.hirc import main as run_hirc

# Of programs of the benchmark's catalogue with open sizes: the most kernels, and bytes of PTX for
# sm_90a. Cross-entropy's mean is a second operation.
_BUDGETS = {
    "softmax_f32": (4, 366_000),
    "softmax_bf16": (4, 312_000),
    "layer_norm_bf16": (4, 412_000),
    "rms_norm_bf16": (4, 243_000),
    "row_sum_f32": (2, 48_000),
    "argmax_bf16": (2, 125_000),
    "cross_entropy_mean_f32": (5, 180_000),
    "column_sum_f32": (3, 48_000),
    "middle_sum_bf16": (4, 92_000),
    "cumsum_f32": (2, 48_000),
    "bias_gelu_bf16": (2, 54_000),
    "pad_bf16": (2, 30_000),
    "max_pool_f32": (2, 54_000),
    "matmul_f32": (3, 155_000),
    "add_transposed_bf16": (5, 104_000),
}


@pytest.mark.parametrize("name", _BUDGETS)
def test_budget(name: str, tmp_path: Path) -> None:
    most_kernels, most_bytes = _BUDGETS[name]
    ptx = _ptx(name, tmp_path)
    assert len(re.findall(r"^\.visible \.entry ", ptx, re.MULTILINE)) <= most_kernels
    assert len(ptx) <= most_bytes


@pytest.mark.parametrize("name", ["column_sum_f32", "middle_sum_bf16"])
def test_addresses_of_columns_do_not_run(name: str, tmp_path: Path) -> None:
    """Values of 64 bits that run in a loop take two registers each: addresses of iterations that
    are loaded together are computed from one number.
    """
    for kernel in _ptx(name, tmp_path).split(".visible .entry ")[1:]:
        # From its label to the branch back, whatever blocks are between.
        for loop in re.finditer(r"^(\$\w+):\n(.*?)\bbra(?:\.uni)?\s+\1;", kernel, re.M | re.S):
            running = re.findall(r"add\.s64\s+(%rd\d+), \1,", loop[2])
            assert len(running) < 3, (kernel.partition("(")[0], running)


def _ptx(name: str, folder: Path) -> str:
    """The PTX of a program of the catalogue with open sizes."""
    source, output = folder / "program.mlir", folder / "program.ptx"
    operation, _, element = name.rpartition("_")
    row = next(each for each in rows(f"{operation}_*_{element}") if each.operation == operation)
    source.write_text(program_text(row, DYNAMIC))
    words = ["--emit=ptx", "--offload-arch=sm_90a", "-o", str(output)]
    assert run_hirc([str(source), *words]) == 0
    return output.read_text()


def _softmax(name: str, *shape: str) -> str:
    rank = len(shape)
    kind, row = f"tensor<{'x'.join(shape)}xf32>", f"tensor<{'x'.join(shape[:-1])}xf32>"
    loops = ", ".join(f"d{loop}" for loop in range(rank))
    outer = ", ".join(f"d{loop}" for loop in range(rank - 1))
    whole, some = f"affine_map<({loops}) -> ({loops})>", f"affine_map<({loops}) -> ({outer})>"
    parallel = ", ".join(['"parallel"'] * (rank - 1))
    sizes = [f"%s{axis}" for axis in range(rank)]
    dims = "".join(
        f"  %c{axis} = arith.constant {axis} : index\n"
        f"  %s{axis} = tensor.dim %x, %c{axis} : {kind}\n"
        for axis in range(rank)
    )
    given = ", ".join(size for size, extent in zip(sizes, shape, strict=True) if extent == "?")
    reduced = f'iterator_types = [{parallel}, "reduction"]'
    points = f'iterator_types = [{parallel}, "parallel"]'
    return f"""
func.func @{name}(%x: {kind}) -> {kind} {{
{dims}  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %few = tensor.empty({", ".join(sizes[:-1])}) : {row}
  %empty = tensor.empty({given}) : {kind}
  %no_most = linalg.fill ins(%least : f32) outs(%few : {row}) -> {row}
  %no_sum = linalg.fill ins(%zero : f32) outs(%few : {row}) -> {row}
  %most = linalg.generic {{indexing_maps = [{whole}, {some}], {reduced}}}
      ins(%x : {kind}) outs(%no_most : {row}) {{
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  }} -> {row}
  %powers = linalg.generic {{indexing_maps = [{whole}, {some}, {whole}], {points}}}
      ins(%x, %most : {kind}, {row}) outs(%empty : {kind}) {{
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  }} -> {kind}
  %sum = linalg.generic {{indexing_maps = [{whole}, {some}], {reduced}}}
      ins(%powers : {kind}) outs(%no_sum : {row}) {{
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  }} -> {row}
  %shares = linalg.generic {{indexing_maps = [{whole}, {some}, {whole}], {points}}}
      ins(%powers, %sum : {kind}, {row}) outs(%empty : {kind}) {{
  ^bb0(%a: f32, %s: f32, %o: f32):
    %q = arith.divf %a, %s : f32
    linalg.yield %q : f32
  }} -> {kind}
  return %shares : {kind}
}}
"""


def test_more_rows_than_a_grid_has_in_x(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both that are kept by a cluster and that are streamed, with several dims of rows."""
    for module in ("plan", "schedule"):
        monkeypatch.setattr(f"hirc.pipelines.schedules.rows.{module}.MOST_IN_32_BITS", 16)
    text = _softmax("streamed", "?", "?", "?") + _softmax("kept", "?", "20000")
    compiled = library(text, "--schedules=tuned", "-O0")
    x = torch.randn(5, 7, 601)
    found = compiled.programs["streamed"](x)
    torch.testing.assert_close(found, torch.softmax(x, 2))
    y = torch.randn(19, 20000)
    torch.testing.assert_close(compiled.programs["kept"](y), torch.softmax(y, 1))


@pytest.mark.parametrize("count", [1, 3, 4, 5, 9])
@pytest.mark.parametrize("length", [516, 1000, 1024, 1028])
def test_rows_of_one_warp_share_blocks(count: int, length: int) -> None:
    """The last block may have fewer; rows of several warps have blocks of their own."""
    compiled = library(_softmax("shares", "?", "?"), "--schedules=tuned", "-O0")
    x = torch.randn(count, length)
    torch.testing.assert_close(compiled.programs["shares"](x), torch.softmax(x, 1))


@pytest.mark.parametrize("threads", [32, 64, 128])
def test_rows_share_no_more_threads_than_were_asked_for(threads: int) -> None:
    plain = _softmax("asked", "?", "?")
    asked = f'family = "rows", kernel = "kept", rows = 1, threads = {threads}, open = true'
    head, _, tail = plain.rpartition("{indexing_maps")
    text = f"{head}{{hir.configuration = {{{asked}}}, indexing_maps{tail}"
    x = torch.randn(9, 700)
    found = library(text, "--schedules=tuned", "-O0").programs["asked"](x)
    torch.testing.assert_close(found, torch.softmax(x, 1))


@pytest.mark.parametrize("count", [3, 2111, 2112])
@pytest.mark.parametrize("length", [2049, 2100, 4096, 4099])
def test_batches_of_many_rows(count: int, length: int) -> None:
    """As many rows as fill the device have fewer threads each, which take several batches."""
    row = next(each for each in rows("argmax_*_f32"))
    compiled = library(program_text(row, DYNAMIC), "--schedules=tuned", "-O0")
    x = torch.randn(count, length)
    found = compiled.programs[row.program(DYNAMIC)](x)
    torch.testing.assert_close(found, x.argmax(1))


@pytest.mark.parametrize(
    "length", [1024, 1028, 2048, 16384, 20001, 22000, 27000, 63001, 90000, 110001, 130000, 150001]
)
def test_parts_of_rows_without_a_greatest_element(length: int) -> None:
    """Warps and blocks of which all elements are -inf, in rows that have others and that do not."""
    compiled = library(_softmax("least", "?", "?"), "--schedules=tuned", "-O0")
    x = torch.full((6, length), -torch.inf)
    x[1, 0], x[2, -1], x[3, length // 2], x[4, 5] = -100.0, 3.0e38, 0.0, torch.inf
    x[5, 7] = torch.nan
    found = compiled.programs["least"](x)
    torch.testing.assert_close(found, torch.softmax(x, 1), equal_nan=True)


@pytest.mark.parametrize("element", ["bf16", "f16"])
@pytest.mark.parametrize("length", [1032, 2048, 2056, 4099, 33000, 33001, 44001, 100001])
def test_elements_of_16_bits_wait_in_words(element: str, length: int) -> None:
    """A row's last warp has vectors that are not there; those before it have all of theirs."""
    text = _softmax("halves", "?", "?")
    kind = f"tensor<?x?x{element}>"
    wide = "tensor<?x?xf32>"
    text = text.replace(f"(%x: {wide}) -> {wide}", f"(%x: {kind}) -> {kind}")
    text = text.replace(f"tensor.dim %x, %c0 : {wide}", f"tensor.dim %x, %c0 : {kind}")
    text = text.replace(f"tensor.dim %x, %c1 : {wide}", f"tensor.dim %x, %c1 : {kind}")
    text = text.replace("  %least =", f"  %wide = arith.extf %x : {kind} to {wide}\n  %least =")
    text = text.replace("ins(%x", "ins(%wide")
    text = text.replace(
        f"  return %shares : {wide}",
        f"  %halves = arith.truncf %shares : {wide} to {kind}\n  return %halves : {kind}",
    )
    compiled = library(text, "--schedules=tuned", "-O0")
    x = torch.randn(4, length).to(torch.bfloat16 if element == "bf16" else torch.float16)
    # Warps and blocks without a greatest element, and a row.
    x[1, length // 3 :], x[2, :-1], x[3] = -torch.inf, -torch.inf, -torch.inf
    found = compiled.programs["halves"](x)
    expected = torch.softmax(x.float(), 1).to(x.dtype)
    torch.testing.assert_close(found, expected, equal_nan=True)


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_elements_that_indices_name_are_loaded_early(element: str) -> None:
    """Rows begin anywhere, and are shorter than a batch of vectors, or have several."""
    row = next(each for each in rows(f"*_{element}") if each.operation == "cross_entropy")
    compiled = library(program_text(row, DYNAMIC), "--schedules=tuned", "-O0")
    for length in (1, 7, 515, 4099, 50257):
        x = torch.randn(5, length).to(torch.bfloat16 if element == "bf16" else torch.float32)
        target = torch.randint(length, (5,))
        found = compiled.programs[row.program(DYNAMIC)](x, target)
        expected = torch.nn.functional.cross_entropy(x.float(), target, reduction="none")
        torch.testing.assert_close(found, expected.to(x.dtype))


@pytest.mark.parametrize("length", [1, 3, 1029, 70001])
def test_rows_whose_elements_divide(length: int) -> None:
    """Threads without an element before or after the vectors divide by one that is there."""
    text = """
func.func @quotients(%x: tensor<?x?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i32
  %rows = tensor.dim %x, %c0 : tensor<?x?xi32>
  %empty = tensor.empty(%rows) : tensor<?xi32>
  %start = linalg.fill ins(%none : i32) outs(%empty : tensor<?xi32>) -> tensor<?xi32>
  %sums = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xi32>) outs(%start : tensor<?xi32>) {
  ^bb0(%a: i32, %o: i32):
    %number = arith.constant 840 : i32
    %q = arith.divsi %number, %a : i32
    %s = arith.addi %o, %q : i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  return %sums : tensor<?xi32>
}
"""
    compiled = library(text, "--schedules=tuned", "-O0")
    x = torch.randint(1, 9, (3, length), dtype=torch.int32)
    found = compiled.programs["quotients"](x)
    assert torch.equal(found, (840 // x).sum(1, dtype=torch.int32))


@pytest.mark.parametrize("rows_", [1, 33, 34])
@pytest.mark.parametrize("length", [14_562, 14_565, 40_003])
def test_rows_of_much_work(rows_: int, length: int) -> None:
    """Few rows are split from fewer elements on, into parts that end anywhere."""
    text = """
func.func @softened(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %empty = tensor.empty(%rows) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %sums = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %l = math.log1p %e : f32
    %s = arith.addf %o, %l : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %sums : tensor<?xf32>
}
"""
    compiled = library(text, "--schedules=tuned", "-O0")
    x = torch.randn(rows_, length)
    found = compiled.programs["softened"](x)
    torch.testing.assert_close(found, torch.nn.functional.softplus(x).sum(1), rtol=1e-5, atol=0)
