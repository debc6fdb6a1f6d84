"""Python's whole numbers among a model's inputs stay open."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.export import Dim, export, save

import hirc
from hirc.compiler.errors import ExecutionError, InputError
from hirc.tools.hirc import main as run_hirc


class _Model(torch.nn.Module):
    def forward(self, x: Tensor, start: int, more: dict[str, int]) -> tuple[Tensor | int, ...]:
        many = more["many"]
        here = start + torch.arange(x.shape[0])
        return x[:, :many].sum(1) * start, here, x + many, many, x.new_full((many,), start)


def test_whole_numbers_stay_open(tmp_path: Path) -> None:
    x = torch.rand(4, 9)
    shapes = {"x": {0: Dim("rows")}, "start": Dim.DYNAMIC, "more": {"many": Dim.DYNAMIC}}
    given = (x, 7, {"many": 5})
    net = hirc.compile(_Model(), given, dynamic_shapes=shapes, target="cpu", opt_level=0)
    net.save(tmp_path / "libnet.so")
    for each in (net, hirc.load(tmp_path / "libnet.so")):
        for rows, start, many in ((4, 7, 5), (2, 1000, 9), (3, 3, 2)):
            inputs = torch.rand(rows, 9), start, {"many": many}
            for ours, theirs in zip(each(*inputs), _Model()(*inputs), strict=True):
                torch.testing.assert_close(ours, theirs)
    for ours, theirs in zip(
        net(x, np.int32(7), {"many": np.int64(5)}), net(x, 7, {"many": 5}), strict=True
    ):
        assert type(ours) is type(theirs)
        torch.testing.assert_close(ours, theirs)
    with pytest.raises(InputError, match=r"'start' of main is of type bool"):
        net(x, np.True_, {"many": 5})
    with pytest.raises(
        InputError, match=r"'more_many' of main is 10, and it was compiled for . to 9"
    ):
        net(x, 7, {"many": 10})
    with pytest.raises(InputError, match=r"'start' of main is of type float, where .* number"):
        net(x, 7.0, {"many": 5})


def test_whole_numbers_of_a_program_that_was_saved(
    tmp_path: Path,
) -> None:
    def scaled(x: Tensor, by: int) -> Tensor:
        return x * by

    model = torch.nn.Module()
    model.forward = scaled
    shapes = {"x": None, "by": Dim.DYNAMIC}
    save(export(model, (torch.ones(2), 5), dynamic_shapes=shapes), tmp_path / "net.pt2")
    words = [str(tmp_path / "net.pt2"), "-o", str(tmp_path / "net"), "--offload-arch=cpu", "-O0"]
    assert run_hirc(words) == 0
    inputs = ("--input=x=@iota", "--input=by=3", "--print")
    printed = subprocess.run([tmp_path / "net", *inputs], capture_output=True, text=True)
    assert printed.stdout.splitlines()[-1] == "[0. 3.]", printed.stderr


def test_what_a_model_checks_of_elements() -> None:
    def scaled(x: Tensor) -> Tensor:
        torch._check((x != 7).all().item())  # pyright: ignore[reportPrivateUsage]
        torch._check_tensor_all(x > 0)  # pyright: ignore[reportPrivateUsage]
        return x * 2

    x = torch.rand(3) + 1
    net = hirc.compile(scaled, (x,), target="cpu", opt_level=0)
    assert torch.equal(net(x), x * 2)
    for wrong in (-x, x.clone().fill_(7)):
        with pytest.raises(ExecutionError, match="assertion"):
            net(wrong)
