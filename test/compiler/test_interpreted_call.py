"""What is not compiled is called as what is: each call of both gives the same, or fails alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import hirc
from hirc.compiler.compile_code import CodeCompilation
from hirc.compiler.errors import ExecutionError, HircError, InputError, UnsupportedError
from support.program_command import SEVERAL

pytestmark = pytest.mark.xdist_group("compile_model")

_Both = tuple[Any, Any]


def _no_chip(*_: object) -> None:
    raise UnsupportedError("no such chip")


def _both(program: Any, *args: Any) -> _Both:
    """The compiled and the interpreted function of a program."""
    options: dict[str, Any] = {"target": "cpu", "opt_level": 0, "cache": False}
    compiled = hirc.jit(program, *args, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CodeCompilation, "compile", _no_chip)
        with pytest.warns(UserWarning, match="not compiled, but interpreted: no such chip"):
            interpreted = hirc.jit(program, *args, **options, on_failure="interpret")
    return compiled, interpreted


def _outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (InputError, ExecutionError):
        # The messages differ, and a size of an output may be seen when it is made.
        return HircError


def _same(one: Any, other: Any) -> None:
    """Fails unless two results are of the same containers, kinds of tensors and values."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            _same(one[key], other[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for each, another in zip(one, other, strict=True):
            _same(each, another)
    elif isinstance(one, Tensor):
        torch.testing.assert_close(one, other, equal_nan=True)
        assert not other.requires_grad
    else:
        np.testing.assert_equal(one, other)


@pytest.fixture(scope="module")
def several() -> _Both:
    return _both(SEVERAL)


_X = np.arange(4, dtype=np.float32)
_Call = Callable[[Any], Any]
_CALLS: list[_Call] = [
    lambda f: f(_X, 2, 7),
    lambda f: f(torch.from_numpy(_X), 0.1, i=7),
    lambda f: f(i=7, k=True, x=torch.from_numpy(_X)),
    lambda f: f(_X[::2].copy(), np.float32(3), np.int16(1), stream=0),
    lambda f: f(_X, torch.tensor(2.0), 7, out={"y": np.empty(4, np.float32)}),
    lambda f: f(_X[:0], 2.0, 7, out=[None] * 4, stream=None),
    lambda f: f(_X, 2.0, 1 << 15),
    lambda f: f(_X, "two", 7),
    lambda f: f(_X, -1e39, 7),
    lambda f: f(_X, 2.0),
    lambda f: f(_X, 2.0, 7, z=1),
    lambda f: f(_X, 2.0, 7, i=7),
    lambda f: f(_X, 2.0, 7, 8),
    lambda f: f(_X, 2.0, 7, stream=99),
    lambda f: f(_X, 2.0, 7, out=np.empty(4, np.float32)),
    lambda f: f(_X, 2.0, 7, out={"w": None}),
    lambda f: f(_X, 2.0, 7, out=[_X, None, None, None]),
    lambda f: f(_X, 2.0, 7, out=[np.empty(5, np.float32), None, None, None]),
    lambda f: f(_X, 2.0, 7, out=["y", None, None, None]),
    lambda f: f(_X.astype(np.float64), 2.0, 7),
    lambda f: f(_X[:, None], 2.0, 7),
    lambda f: f(None, 2.0, 7),
    lambda f: f(np.broadcast_to(np.float32(1), 3), 2.0, 7),
    lambda f: f(torch.ones(3, requires_grad=True), 2.0, 7),
]


@pytest.mark.parametrize("call", _CALLS)
def test_calls_of_a_program(several: _Both, call: _Call) -> None:
    compiled, interpreted = several
    _same(_outcome(lambda: call(compiled)), _outcome(lambda: call(interpreted)))


def test_a_program_says_the_same_of_itself(several: _Both) -> None:
    compiled, interpreted = several
    for each in ("name", "inputs", "outputs", "signature", "__name__"):
        assert getattr(compiled, each) == getattr(interpreted, each)
    assert inspect.signature(compiled) == inspect.signature(interpreted)
    assert repr(compiled) == repr(interpreted)
    y, x = torch.empty(4), torch.from_numpy(_X)
    given, same, *_ = interpreted(x, 2.0, 7, out=[y, x, None, None])
    assert given is y
    assert same is x
    assert y.tolist() == [0, 2, 4, 6]


def test_a_failure_is_an_execution_error() -> None:
    text = SEVERAL.replace("  %y =", '  %no = arith.constant false\n  cf.assert %no, "no"\n  %y =')
    for function in _both(text):
        with pytest.raises(ExecutionError, match="no"):
            function(_X, 2.0, 7)


def test_a_program_that_is_not_interpreted_raises_its_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CodeCompilation, "compile", _no_chip)
    text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }\n"
    with pytest.raises(UnsupportedError, match="no such chip"):
        hirc.jit(text, target="cpu", cache=False, on_failure="interpret")


class _Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(
        self, x: dict[str, Tensor], count: int = 2, *, shift: Tensor | None = None
    ) -> dict[str, Any]:
        y = x["a"] * self.gain * count
        return {"y": y, "none": shift, "both": (y.shape[0], [x["a"], True])}


@pytest.fixture(scope="module")
def model() -> _Both:
    return _both(_Model(), ({"a": torch.ones(3)},))


def _a(kind: Callable[[Tensor], Any] = torch.Tensor.clone) -> dict[str, Any]:
    return {"a": kind(torch.arange(3.0))}


_MODEL_CALLS: list[_Call] = [
    lambda f: f(_a()),
    lambda f: f.call(x=_a(), count=2, shift=None),
    lambda f: f(_a(Tensor.numpy), stream=0),
    lambda f: f(_a(), out=None),
    lambda f: f(_a(), out={"y": torch.empty(3), "none": None, "both": None}),
    lambda f: f(_a(), out={"y": np.empty(3, np.float32), "none": None, "both": (None, [None] * 2)}),
    lambda f: f(_a(), out={"y": torch.empty(4), "none": None, "both": None}),
    lambda f: f(_a(), out={"y": torch.empty(3), "none": None, "both": (3, None)}),
    lambda f: f(_a(), out={"y": torch.empty(3)}),
    lambda f: f(_a(), out=torch.empty(3)),
    lambda f: f(_a(), stream=99),
    lambda f: f(_a(), 2, None),
    lambda f: f(_a(), other=1),
    lambda f: f(),
    lambda f: f(_a(Tensor.requires_grad_)),
]


@pytest.mark.parametrize("call", _MODEL_CALLS)
def test_calls_of_a_model(model: _Both, call: _Call) -> None:
    compiled, interpreted = model
    _same(_outcome(lambda: call(compiled)), _outcome(lambda: call(interpreted)))


def test_a_model_says_the_same_of_itself(model: _Both) -> None:
    compiled, interpreted = model
    for each in ("signature", "is_model", "dims", "__name__"):
        assert getattr(compiled, each) == getattr(interpreted, each)
    assert inspect.signature(compiled) == inspect.signature(interpreted)
    x, y = _a(), torch.empty(3)
    found = interpreted(x, out={"y": y, "none": None, "both": None})
    assert found["y"] is y
    assert found["both"][1][0] is x["a"]
    with pytest.raises(AttributeError, match=r"save is of compiled models, .* no such chip"):
        interpreted.save("libmodel.so")


def test_an_exported_program() -> None:
    program = torch.export.export(_Model(), ({"a": torch.ones(3)},))
    compiled, interpreted = _both(program)
    _same(compiled(_a()), interpreted(_a()))
    assert list(interpreted.signature.parameters) == list(compiled.signature.parameters)
