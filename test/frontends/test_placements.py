"""Tables of placements that are wrong, of models and of command lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed.tensor import Partial, Replicate, Shard

from hirc.compiler.errors import InputError
from hirc.compiler.sharding import Sharding, combined, make_sharding, parse_sharding
from hirc.frontends.torch.import_model import import_model
from hirc.frontends.torch.read_model import read_model
from hirc.tools.hirc_arguments import parse_arguments


class _Sum(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(4, 2))
        self.unused = nn.Parameter(torch.zeros(4))
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += self.weight[:, 0] + x
        return self.total * 2


@pytest.mark.parametrize(
    ("mesh", "table", "message"),
    [
        (2, {"up": Shard(0)}, "shardings names 'up', which is no input, weight or output"),
        (2, {"weight": Shard(2)}, "the sharding of 'weight', axis:2: the buffer has 2 dims"),
        (2, {"weight": Shard(-3)}, "the sharding of 'weight', axis:-3: a spread is whole"),
        (2, {"x": Partial("avg")}, "the sharding of 'x', partial:avg: devices combine no i32"),
        ((3, 2), {"w*": ("axis:0",) * 2}, "'weight', axis:0, axis:0: 6 devices do not divide 4"),
        (
            3,
            {"total": Shard(0)},
            "the sharding of 'total', which is state: 3 devices do not divide",
        ),
        ((2, 2), {"weight": "axis:0"}, "the sharding of 'weight' has 1 placements, and the mesh 2"),
        (0, {"weight": "axis:0"}, "a mesh is the sizes of its axes, not 0"),
        (None, {"weight": "axis:0"}, "shardings say how tensors are spread over a mesh"),
        (2, {"x": "rows"}, "the sharding of 'x' is 'rows'"),
        (2, {"x": 1}, "the sharding of 'x' is 1"),
        (2, ["x"], "shardings is a list"),
        (2, {"total": Partial()}, "the sharding of 'total', which is state"),
    ],
)
def test_tables_that_are_wrong(mesh: Any, table: Any, message: str) -> None:
    def imported() -> None:
        sharding = make_sharding(mesh, table)
        import_model(_Sum(), (torch.zeros(4, dtype=torch.int32),), sharding=sharding)

    with pytest.raises(InputError) as error:
        imported()
    assert message in str(error.value)


def test_what_a_table_says() -> None:
    """A name holds over a pattern, the first pattern over others; what is not used may be named."""
    table = {"*": Replicate(), "wei*": Shard(0), "weight": Shard(-1), "unused": Shard(0)}
    x = (torch.zeros(4, dtype=torch.int32),)
    text = import_model(_Sum(), x, sharding=make_sharding((2,), table)).text
    assert 'hir.spread = ["axis:1"], hirc.weight = "weight"' in text
    assert "hir.mesh = array<i64: 2>" in text


def test_a_command_line_goes_before_the_file() -> None:
    asked = parse_sharding("2,2", ["x=axis:0,whole", "up.*=whole,axis:0"])
    assert asked == Sharding((2, 2), (("x", ("axis:0", "whole")), ("up.*", ("whole", "axis:0"))))
    assert asked is not None
    assert asked.words == [
        "--mesh=2,2",
        "--sharding=x=axis:0,whole",
        "--sharding=up.*=whole,axis:0",
    ]
    said = make_sharding((2,), {"x": Shard(1)})
    words = parse_sharding(None, ["x=axis:0"])
    assert combined(words, said) == Sharding((2,), (("x", ("axis:0",)), ("x", ("axis:1",))))
    with pytest.raises(InputError, match="has 1 placements, and the mesh 2 axes"):
        combined(asked, said)
    with pytest.raises(InputError, match="there is none"):
        combined(words, None)


@pytest.mark.parametrize(
    ("mesh", "word", "message"),
    [
        ("two", "x=axis:0", "--mesh takes the sizes of its axes, not 'two'"),
        ("2", "x", "--sharding takes NAME=PLACEMENT"),
        ("2", "x=axis", "the sharding of 'x' is 'axis'"),
    ],
)
def test_words_that_are_wrong(mesh: str, word: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_sharding(mesh, [word])
    assert message in str(error.value)


def test_a_mesh_that_is_the_file_s_own_is_blamed_on_it(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    for mesh, message in (("2.5", "a mesh is the sizes of its axes"), ("2, 2", "2 axes")):
        file.write_text(
            "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n"
            "        return x + x\ndef get_inputs():\n    return [torch.zeros(4)]\n"
            f"mesh = ({mesh})\nshardings = {{'x': 'axis:0'}}\n"
        )
        with pytest.raises(InputError, match=message) as error:
            read_model(f"{file}:M", "main")
        assert str(error.value.position) == str(file)


def test_a_mesh_is_given_once() -> None:
    with pytest.raises(InputError, match="--mesh is given twice, as '2' and '4'"):
        parse_arguments(["m.py:M", "--mesh=2", "--mesh=4"])
