"""The blocks that sums of columns are made of on an H200: those that move the most bytes there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from schedules.programs import Fused, reduce_loops

from hirc.tools.hirc import main as run_hirc

# Loops, sizes, element; then columns of blocks, parts of the rows, and threads of a block.
_CASES = (
    ("r, c", (16384, 16384), "f32", (256, 1, 512)),
    ("r, c", (16384, 16384), "bf16", (128, 1, 512)),
    ("r, c", (16384, 2048), "f32", (16, 32, 256)),
    ("r, c", (16384, 17408), "f32", (136, 3, 256)),
    ("r, c", (16381, 16381), "f32", (66, 8, 512)),
    ("r, c", (16381, 16381), "bf16", (33, 4, 512)),
    ("a, r, c", (512, 512, 1024), "f32", (4096, 1, 256)),
    ("a, r, c", (512, 512, 1021), "f32", (2560, 1, 512)),
    ("a, r, c", (4096, 512, 3), "f32", (3072, 1, 256)),
    ("r, c", (2**31 + 64, 64), "f32", (1, 528, 256)),
    # Pairs: rows of six are no whole vectors of four.
    ("r, c", (2**20, 6), "f32", (1, 1024, 256)),
    # A block has several rows of few columns where these have few iterations.
    ("a, r, c", (32768, 256, 8), "f16", (8192, 1, 256)),
)


@pytest.mark.parametrize(("loops", "sizes", "element", "expected"), _CASES)
def test_blocks(
    loops: str, sizes: tuple[int, ...], element: str, expected: tuple[int, ...], tmp_path: Path
) -> None:
    names = loops.split(", ")
    kept = ", ".join(name for name in names if name != "r")
    widened = f"%w = arith.extf %x0 : {element} to f32\n" if element != "f32" else ""
    program = Fused(
        "sum",
        (f"{element}[{loops}]",),
        (f"f32[{kept}]",),
        lambda x: x,
        (),
        loops=loops,
        reduced="r",
        body=widened
        + reduce_loops("%s", "addf", "%w" if widened else "%x0", "f32", names.index("r"))
        + "linalg.yield %s : f32",
    )
    source, output = tmp_path / "sum.mlir", tmp_path / "out.mlir"
    text = program.text("sum", dict(zip(names, sizes, strict=True)), packed=True)
    source.write_text(text)
    words = [str(source), "-o", str(output), "--stop-after=schedules", "--offload-arch=sm_90a"]
    assert run_hirc(words) == 0
    numbers = r'"hir\.launch"\(%c(\d+)\w*, %c(\d+)\w*, %c1\w*, %c(\d+)\w*,'
    found = re.search(numbers, output.read_text())
    assert found is not None
    assert tuple(map(int, found.groups())) == expected
