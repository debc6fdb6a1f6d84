"""Names of a weights file and of a model's parameters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hirc.compiler.errors import InputError
from hirc.compiler.safetensors import TensorFile, read_values
from support.weights import tensor, write_values

_VALUE = np.zeros(2, np.float32)
_PARAMETERS = ("encoder.fc.bias", "encoder.fc.weight")
_MODEL = TensorFile(
    Path("net.py"),
    {name: tensor(_VALUE) for name in (*_PARAMETERS, "scale")},
    {"head.weight": "encoder.fc.weight"},
    frozenset(_PARAMETERS),
)


@pytest.mark.parametrize(
    "names",
    [
        _PARAMETERS,
        ("encoder.fc.bias", "head.weight"),
        (*_PARAMETERS, "scale", "another"),
    ],
)
def test_a_file_with_all_parameters_is_taken(tmp_path: Path, names: tuple[str, ...]) -> None:
    path = write_values(tmp_path / "w.safetensors", dict.fromkeys(names, _VALUE))
    assert read_values(path, [_MODEL]).tensors.keys() == set(names)


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        (["foo"], "it has 'foo'"),
        (
            [f"module.{name}" for name in _PARAMETERS],
            "it has 'module.encoder.fc.bias': its names have to be those of the model's "
            "state_dict, without 'module.'",
        ),
        (
            ["fc.bias", "fc.weight"],
            "it has 'fc.bias': its names have to be those of the model's state_dict, with "
            "'encoder.'",
        ),
    ],
)
def test_a_file_that_lacks_parameters_is_refused(
    tmp_path: Path, names: list[str], hint: str
) -> None:
    path = write_values(tmp_path / "w.safetensors", dict.fromkeys(names, _VALUE))
    with pytest.raises(InputError) as caught:
        read_values(path, [_MODEL])
    assert str(caught.value).startswith(
        f"weights file {path} lacks parameters of the model: 'encoder.fc.bias', 'encoder.fc.weight'"
    )
    assert caught.value.hint == hint
