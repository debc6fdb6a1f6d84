"""Arguments of `hirc.compile` that are none: refused before anything is done with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import hirc
from hirc.compiler.errors import InputError

_PROGRAM = """
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
      outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
_MODEL = torch.nn.ReLU()
_X = torch.ones(4)


@pytest.mark.parametrize(
    ("options", "said", "hint"),
    [
        ({"entry": 3}, "entry is 3", "the name of a program"),
        ({"entry": "a b"}, "entry is 'a b'", "without blanks"),
        ({"entry": None}, "entry is None", "the name of a program"),
        ({"entry": "once"}, "entry is 'once', and there is no program of that name", "twice"),
        ({"target": None}, "target is None", "cpu or native"),
        ({"target": []}, r"target is \[\]", "cpu or native"),
        ({"target": ["cpu", 3]}, "target is 3", "cpu or native"),
        ({"target": "garbage"}, "unknown offload arch 'garbage'", "sm_90"),
        ({"opt_level": 7}, "opt_level is 7", "one of 0, 1, 2, 3"),
        ({"opt_level": "2"}, "opt_level is '2'", "one of 0, 1, 2, 3"),
        ({"opt_level": True}, "opt_level is True", "one of 0, 1, 2, 3"),
        ({"fast_math": "no"}, "fast_math is 'no'", "True or False"),
        ({"debug": None}, "debug is None", "True or False"),
        ({"cache": 1}, "cache is 1", "True or False"),
        ({"overlap_steps": -1}, "overlap_steps is -1", "from 0 on"),
        ({"overlap_by_peers": "no"}, "overlap_by_peers is 'no'", "True or False"),
        ({"float32_products": "f32"}, "float32_products is 'f32'", "ieee, winograd, tf32, bf16x3"),
        ({"products": None}, "products is None", "auto, library, always, own"),
        ({"schedules": 1}, "schedules is 1", "auto, tuned, general"),
        ({"graph": True}, "graph is True", "auto, always, never"),
        ({"weights": ["embed"]}, r"weights is \['embed'\]", "auto, embed, external"),
        ({"state": "none"}, "state is 'none'", "kept, inputs"),
        ({"checks": ["races"]}, "checks is 'races'", "memory, race"),
        ({"checks": "memories"}, "checks is 'memories'", "memory, race"),
        ({"checks": None}, "checks is None", "memory and race"),
        ({"libraries": "libx.so"}, "libraries is 'libx.so'", "a list of paths"),
        ({"libraries": [3]}, "libraries is 3", "a list of paths"),
        ({"weights_from": 3}, "weights_from= takes a path .* not int", None),
        ({"args": 3}, "inputs to compile for go with a torch model", None),
    ],
)
def test_wrong_options(options: dict[str, Any], said: str, hint: str | None) -> None:
    options = {"target": "cpu", **options}
    with pytest.raises(InputError, match=f"^{said}") as caught:
        hirc.compile(_PROGRAM, **options)
    assert hint is None or hint in (caught.value.hint or "")
    with pytest.raises(InputError, match=f"^{said}"):
        hirc.jit(_PROGRAM, **options, on_failure="interpret")


@pytest.mark.parametrize(
    ("program", "args", "kwargs", "said"),
    [
        (_MODEL, _X, None, "args is tensor"),
        (_MODEL, None, None, "args is None"),
        (_MODEL, "x", None, "args is 'x'"),
        (_MODEL, (_X,), [1], r"kwargs is \[1\]"),
        (torch.nn.ReLU, (_X,), None, "the program is the class ReLU, and not an instance of it"),
        (None, (), None, "the program is of type NoneType"),
        (_X, (), None, "the program is of type Tensor"),
        (b"x.mlir", (), None, "the program is of type bytes"),
        ("", (), None, "program is '', which names no file"),
        (Path("none.mlir"), (), None, "cannot read none.mlir"),
    ],
)
def test_wrong_programs(program: Any, args: Any, kwargs: Any, said: str) -> None:
    with pytest.raises(InputError, match=f"^{said}"):
        hirc.compile(program, args, kwargs, target="cpu")


def test_unknown_options() -> None:
    options: dict[str, Any] = {"optlevel": 2}
    for call in (hirc.compile, hirc.jit):
        with pytest.raises(TypeError, match="unexpected keyword argument 'optlevel'"):
            call(_PROGRAM, target="cpu", **options)


def test_what_is_as_good() -> None:
    x = np.ones(4, np.float32)
    options: dict[str, Any] = {"opt_level": np.int64(0), "target": ("cpu",), "checks": {"memory"}}
    assert hirc.compile(_PROGRAM, entry="twice", **options)(x).tolist() == [2.0] * 4
    # A word by itself is not its letters.
    assert hirc.compile(_PROGRAM, target="cpu", checks="memory")(x).tolist() == [2.0] * 4
