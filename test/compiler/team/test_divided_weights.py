"""Weights and state of which each device has a part: where values come from, and what it has."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import torch

from hirc.compiler.safetensors import Tensor, write_tensors
from support.driver import Hirc

from .conftest import RunTeam

# A cache of keys and values by heads, and one of each kind of part: rows, columns, blocks, and all.
_MODEL = """
import torch
from torch import nn


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows, self.columns = nn.Linear(8, 24), nn.Linear(24, 8, bias=False)
        self.blocks = nn.Parameter(torch.randn(6, 4, 8))
        self.register_buffer("cache", torch.zeros(1, 4, 5, 6), persistent=False)
        self.register_buffer("begun", torch.arange(32.0).view(4, 8))

    def forward(self, x, at):
        y = self.rows(x)
        self.cache[:, :, at] = y.view(1, 4, 1, 6)
        self.begun += x
        mean = self.cache.sum(2).view(1, 24)
        return self.columns(y + mean) + self.begun.sum(0), self.blocks.sum(0) * x


torch.manual_seed(5)
model = Step().eval()
mesh = (2, 2)
shardings = {
    "rows.*": ("axis:0", "axis:0"),
    "columns.weight": ("axis:1", "axis:1"),
    "blocks": ("axis:1", "axis:0"),
    "cache": ("axis:1", "axis:1"),
    "begun": ("axis:0", "whole"),
}


def get_inputs():
    return [torch.zeros(1, 8), torch.tensor([0])]
"""
_STEPS = """
import os, sys
import torch
import hirc
from model import model

x = torch.arange(8.0).view(1, 8)
values = {name: each.detach() for name, each in model.state_dict().items()}
halves = {name: each / 2 for name, each in values.items()}


def steps(net, values):
    model.load_state_dict(values)
    model.cache.zero_()
    for at in range(3):
        wanted = model(x, torch.tensor([at]))
        given = net(x, torch.tensor([at]))
        for one, other in zip(given, wanted, strict=True):
            torch.testing.assert_close(torch.as_tensor(one), other.detach(), rtol=1e-4, atol=1e-4)


embedded = hirc.load("libembedded.so")
with torch.no_grad():
    steps(embedded.main, values)
    assert embedded.weights["rows.weight"].sizes == (24, 8)
    assert embedded.state["cache"].shape == (1, 1, 5, 6)
    assert embedded.state["begun"].shape == (2, 8)
    row = int(os.environ["HIRC_RANK"]) // 2 * 2
    torch.testing.assert_close(
        torch.as_tensor(embedded.state["begun"]), model.begun[row : row + 2], rtol=0, atol=0
    )
    # A file, tensors that are handed over, and kernels that read none of the host's memory.
    steps(hirc.load("libchecked.so", weights="half.safetensors").main, halves)
    steps(hirc.load("libcopied.so", weights=halves).main, halves)
"""
_ALONE = "import hirc; hirc.load('libembedded.so').load_weights()"


def test_parts_of_weights_and_state(
    hirc: Hirc, run_team: RunTeam, loaded_commands: Path, tmp_path: Path
) -> None:
    """What each device has of them gives what the whole model does, wherever values come from."""
    (tmp_path / "model.py").write_text(_MODEL)
    (tmp_path / "steps.py").write_text(_STEPS)
    space: dict[str, object] = {}
    exec(compile(_MODEL, "model", "exec"), space)
    model = space["model"]
    assert isinstance(model, torch.nn.Module)
    halves = {name: each.detach() / 2 for name, each in model.state_dict().items()}
    with open(tmp_path / "half.safetensors", "wb") as file:
        write_tensors(
            file,
            {
                name: Tensor("F32", tuple(each.shape), memoryview(each.numpy().tobytes()))
                for name, each in halves.items()
            },
            {},
        )
    for name, *more in (("embedded",), ("checked", "--check=memory", "--weights=external")):
        hirc.succeeds(
            f"{tmp_path}/model.py:model", "--offload-arch=cpu", "--emit=shared", "-O0", *more,
            "-o", tmp_path / f"lib{name}.so",
        )  # fmt: skip
    shutil.copy(tmp_path / "libembedded.so", tmp_path / "libcopied.so")
    ended = run_team([[loaded_commands / "python", "steps.py"]] * 4, folder=tmp_path)
    assert [(each.status, each.errors) for each in ended] == [(0, "")] * 4
    (alone,) = run_team([[sys.executable, "-c", _ALONE]], folder=tmp_path)
    said = "InputError: this program communicates with device 3, and it was started as 1 process"
    assert said in alone.errors
    beyond = run_team([[sys.executable, "-c", _ALONE]] * 5, folder=tmp_path)[4]
    assert "a mesh of 4 devices, and rank 4 of 5 processes is none of them" in beyond.errors
