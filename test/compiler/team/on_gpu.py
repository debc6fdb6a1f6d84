"""Builds programs for teams of GPUs with what they are to give, to be run where there are several.

    cd test && ../.venv/bin/python -m compiler.team.on_gpu ../build/team
    python3 build/team/run.py                                  # on the GPU machine

The second part needs torch on the GPU machine, and nothing of hirc but its loader, which is copied
beside the programs. Teams that are larger than the machine's number of GPUs are left out.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import torch
from compiler.team.test_communication import every_kind
from compiler.team.test_failures import PROGRAM
from compiler.team.test_mesh_programs import SHAPES, layers
from compiler.team.test_model_placements import BLOCK, SHARE, Drawn, given_to
from host_ir.on_gpu import copy_loader

from hirc.compiler.interpreter import interpret_team
from hirc.tools.hirc import main as run_hirc
from support.spreads import part

_TARGET = "--offload-arch=sm_90a"
_SIZES = (2, 4)
_KINDS = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "ui8": torch.uint8,
}
_ROWS = (4, 20000)
_OVERLAPS = ("--overlap-steps=2", "--overlap-by-peers")
_MESHES = ((2,), (4,), (2, 2))
_SEEDS = range(20, 24)

Case = dict[str, Any]


def build(folder: Path) -> None:
    """Writes the libraries, their inputs and what they are to give into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    copy_loader(folder)
    shutil.copy(Path(__file__).with_name("run_on_gpu.py"), folder / "run.py")
    cases: list[Case] = []
    for size in _SIZES:
        cases += _kinds(folder, size)
    for mesh in _MESHES:
        cases.append(_layers(folder, mesh))
        cases += [_block(folder, mesh, option) for option in _OVERLAPS]
        cases += [_drawn(folder, mesh, seed) for seed in _SEEDS]
    torch.save(cases, folder / "cases.pt")
    source = folder / "failing.mlir"
    source.write_text(PROGRAM)
    _compile(str(source), "-o", str(folder / "failing"))


def _kinds(folder: Path, size: int) -> list[Case]:
    """Every kind of communication of every element type, small and large, in one library."""
    generator = torch.Generator().manual_seed(7)
    texts: list[str] = []
    cases: list[Case] = []
    for element, kind in _KINDS.items():
        for rows in _ROWS:
            name = f"{element}_{rows}"
            program, names = every_kind(size, element, rows, name)
            # Small whole numbers: sums and products of them are exact in every type and order.
            inputs = [
                [torch.randint(0, 3, (rows, 3), generator=generator).to(kind)] for _ in range(size)
            ]
            expected = interpret_team(program, inputs)
            texts.append(str(program))
            cases.append(_case(f"kinds{size}", name, size, inputs, names, expected, exact=True))
    _library(folder, f"kinds{size}", *texts)
    return cases


def _layers(folder: Path, mesh: tuple[int, ...]) -> Case:
    program, spreads = layers(mesh, "n")
    generator = torch.Generator().manual_seed(4)
    wholes = {name: torch.randn(shape, generator=generator) for name, shape in SHAPES.items()}
    inputs = [
        [part(whole, spreads[name], mesh, place) for name, whole in wholes.items()]
        for place in _places(mesh)
    ]
    expected = interpret_team(program, inputs)
    name = f"layers{_name(mesh)}"
    _library(folder, name, str(program))
    return _case(name, "main", prod(mesh), inputs, ["y", "norm", "turned"], expected)


def _block(folder: Path, mesh: tuple[int, ...], option: str) -> Case:
    """A transformer block, whose rows arrive and leave while others are multiplied."""
    text = BLOCK.replace("MESH", str(mesh))
    space: dict[str, Any] = {}
    exec(compile(text, "model", "exec"), space)
    x = torch.randn(2, 8, 32, generator=torch.Generator().manual_seed(1))
    row = ["axis:0", "axis:1"][: len(mesh)] if mesh != (4,) else ["whole"]
    name = f"block{_name(mesh)}_{option.strip('-').partition('=')[0]}"
    words = [f"--sharding={each}={','.join(row)}" for each in ("x", "output0")]
    _model(folder, name, f"{text}\n", "block", *words, option)
    whole = space["block"](x).detach()
    inputs = [[part(x, row, mesh, place)] for place in _places(mesh)]
    expected = [[part(whole, row, mesh, place)] for place in _places(mesh)]
    return _case(name, "main", prod(mesh), inputs, ["output0"], expected)


def _drawn(folder: Path, mesh: tuple[int, ...], seed: int) -> Case:
    drawn = Drawn(seed, mesh)
    name = f"drawn{_name(mesh)}_{seed}"
    _model(folder, name, drawn.text, "model")
    places = _places(mesh)
    inputs = [
        [given_to(whole, drawn.table[each], mesh, place) for each, whole in drawn.inputs.items()]
        for place in places
    ]
    expected = [
        [part(whole, drawn.table[each], mesh, place) for each, whole in drawn.outputs.items()]
        for place in places
    ]
    case = _case(name, "main", prod(mesh), inputs, list(drawn.outputs), expected)
    # The devices that differ along axes of shares alone have shares that add up to the result.
    case["sums"] = {
        each: [
            [
                other
                for other, there in enumerate(places)
                if all(
                    a == b or word == SHARE
                    for a, b, word in zip(here, there, drawn.table[each], strict=True)
                )
            ]
            for here in places
        ]
        for each in drawn.outputs
        if SHARE in drawn.table[each]
    }
    return case


def _case(
    library: str,
    program: str,
    size: int,
    inputs: Sequence[Sequence[torch.Tensor]],
    names: Sequence[str],
    expected: Sequence[Sequence[torch.Tensor]],
    *,
    exact: bool = False,
) -> Case:
    return {
        "library": library,
        "program": program,
        "size": size,
        "inputs": [list(each) for each in inputs],
        "names": list(names),
        "expected": [list(each) for each in expected],
        "exact": exact,
        "sums": {},
    }


def _library(folder: Path, name: str, *texts: str) -> None:
    sources = [folder / f"{name}.{number}.mlir" for number in range(len(texts))]
    for source, text in zip(sources, texts, strict=True):
        source.write_text(text)
    _compile(*map(str, sources), "--emit=shared", "-o", str(folder / f"{name}.so"))


def _model(folder: Path, name: str, text: str, model: str, *words: str) -> None:
    source = folder / f"{name}.py"
    source.write_text(text)
    _compile(f"{source}:{model}", "--emit=shared", "-o", str(folder / f"{name}.so"), *words)


def _compile(*words: str) -> None:
    if run_hirc([*words, _TARGET]):
        raise SystemExit(f"hirc {' '.join(words)} failed")


def _places(mesh: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(product(*map(range, mesh)))


def _name(mesh: tuple[int, ...]) -> str:
    return "x".join(map(str, mesh))


if __name__ == "__main__":
    build(Path(sys.argv[1]))
