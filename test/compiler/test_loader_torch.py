"""Programs and models within what torch does besides: torch.compile, and derivatives."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo import testing, utils
from torch.autograd import forward_ad
from torch.export import Dim

import hirc
from hirc.compiler.errors import InputError

pytestmark = [
    pytest.mark.xdist_group("compile_model"),
    # torch's own derivatives are its scripts.
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning"),
]


class _Model(nn.Module):
    def forward(
        self, x: Tensor, count: int = 3, *, shift: Tensor | None = None
    ) -> dict[str, Tensor]:
        y = x * count
        return {"y": y if shift is None else y + shift}


class _Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        self.total += x
        return self.total + 0


def _times(x: Tensor, count: int) -> Tensor:
    return x * count


@pytest.fixture(scope="module")
def compiled() -> dict[str, Any]:
    """A model, one with an open number, one with state, and a program."""
    x, open_count = torch.ones(3), (None, Dim.DYNAMIC)
    with hirc.program("negated") as p:
        p.output("y", p.input("x", ("n",), "f32").neg())
    options: dict[str, Any] = {"target": "cpu", "opt_level": 0}
    return {
        "model": hirc.compile(_Model(), (x,), **options),
        "times": hirc.compile(_times, (x, 4), dynamic_shapes=open_count, **options),
        "counts": hirc.compile(_Counts(), (x,), **options),
        "negated": hirc.compile(p, **options),
    }


@pytest.fixture(autouse=True)
def fresh() -> Generator[None]:
    torch.compiler.reset()
    utils.counters.clear()
    yield
    torch.compiler.reset()


_Call = Callable[[dict[str, Any], Tensor], Any]

_CALLS: dict[str, _Call] = {
    "a model": lambda all, x: all["model"](x + 1)["y"] + 1,
    "its function": lambda all, x: all["model"].call(x + 1, 3, shift=None)["y"] + 1,
    "its program": lambda all, x: all["model"].main(x=x + 1) + 1,
    "its output is given": lambda all, x: all["model"](x, out={"y": torch.empty(3)})["y"] + 1,
    "an open number": lambda all, x: all["times"](x + 1, 5) + 1,
    "a program": lambda all, x: all["negated"](x + 1) + 1,
    "by name": lambda all, x: all["negated"].negated(x=x + 1, stream=None) + 1,
    "outputs by name": lambda all, x: all["negated"](x + 1, out={"y": torch.empty(3)}) + 1,
    "an array": lambda all, x: torch.from_numpy(all["negated"]((x + 1).numpy())) + 1,
}


@pytest.mark.parametrize("name", list(_CALLS))
def test_a_traced_function_calls(compiled: dict[str, Any], name: str) -> None:
    """torch traces what is before and after the call, and nothing of hirc's."""
    call, backend = _CALLS[name], testing.CompileCounter()
    traced = torch.compile(call, backend=backend)
    for x in (torch.arange(3.0), torch.ones(3)):
        wanted = call(compiled, x)
        torch.testing.assert_close(traced(compiled, x), wanted)
    assert backend.frame_count <= 2
    assert len(utils.counters["graph_break"]) <= 1


def test_state_in_a_traced_function(compiled: dict[str, Any]) -> None:
    counts = compiled["counts"]

    def call(x: Tensor) -> Tensor:
        counts.reset()
        counts(x)
        return counts(x + 1) + counts.state["total"].sum()

    x = torch.arange(3.0)
    for _ in range(2):
        torch.testing.assert_close(torch.compile(call, backend="eager")(x), 2 * x + 1 + 9)


def test_a_module_that_calls_a_model(compiled: dict[str, Any]) -> None:
    class Calls(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = compiled["model"]
            self.layer = nn.Linear(3, 3)

        @torch.no_grad()
        def forward(self, x: Tensor) -> Tensor:
            return self.model(self.layer(x)[0])["y"]

    module, x = Calls(), torch.ones(1, 3)
    torch.testing.assert_close(torch.compile(module, backend="eager")(x), module(x))
    model = torch.compile(compiled["model"], backend="eager")
    torch.testing.assert_close(model(x[0]), compiled["model"](x[0]))


_WRONG: list[tuple[_Call, str]] = [
    (lambda all, x: all["negated"](x.double() + 1), "its elements are f64"),
    (lambda all, x: all["model"](x.double() + 1), "its elements are f64"),
    (lambda all, x: all["model"](x, 4), "input 'count' of main is 4"),
    (lambda all, x: all["model"](x, 3, 4), "too many positional arguments"),
    (lambda all, x: all["model"](x.requires_grad_() + 1), "require gradient"),
]


@pytest.mark.parametrize(("call", "message"), _WRONG)
def test_what_is_wrong_in_a_traced_function(
    compiled: dict[str, Any], call: _Call, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        torch.compile(call, backend="eager")(compiled, torch.ones(3))


def test_a_library_that_was_loaded_before_torch(compiled: dict[str, Any], tmp_path: Path) -> None:
    compiled["model"].save(tmp_path / "libmodel.so")
    code = (
        "import sys, hirc\n"
        f"model = hirc.load({str(tmp_path / 'libmodel.so')!r})\n"
        "assert 'torch' not in sys.modules\n"
        "import torch\n"
        "traced = torch.compile(lambda x: model(x + 1)['y'] + 1, backend='eager')\n"
        "for x in (torch.ones(3), torch.arange(3.0)): print(traced(x).tolist())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[7.0, 7.0, 7.0]\n[4.0, 7.0, 10.0]\n", done.stderr


def _in_level(call: _Call) -> _Call:
    """Calls with a dual tensor."""

    def run(all: dict[str, Any], x: Tensor) -> Any:
        with forward_ad.dual_level():
            return call(all, forward_ad.make_dual(x, torch.ones(3)))

    return run


_DERIVED: list[tuple[_Call, str]] = [
    (_in_level(lambda all, x: all["model"](x)), "input 'x' of main is a dual tensor"),
    (_in_level(lambda all, x: all["times"](x, 4)), "input 'x' of main is a dual tensor"),
    (_in_level(lambda all, x: all["negated"](x)), "input 'x' of negated is a dual tensor"),
    (
        _in_level(lambda all, x: all["negated"](torch.ones(3), out=x)),
        "output 'y' of negated is a dual tensor",
    ),
    (lambda all, x: torch.func.jvp(all["negated"], (x,), (x,)), r"input 'x' .* transforms"),
    (lambda all, x: torch.func.jvp(all["model"], (x,), (x,)), r"input 'x' .* transforms"),
    (lambda all, x: torch.func.vjp(all["negated"], x), r"input 'x' .* transforms"),
    (lambda all, x: torch.func.vmap(all["negated"])(x[None]), r"input 'x' .* transforms"),
]


@pytest.mark.parametrize(("call", "message"), _DERIVED)
def test_derivatives_are_not_lost(compiled: dict[str, Any], call: _Call, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(compiled, torch.ones(3))


def test_other_tensors_while_there_are_tangents(compiled: dict[str, Any]) -> None:
    x = torch.arange(3.0)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones(3))
        for each in (x, dual.detach(), forward_ad.unpack_dual(dual).primal):
            assert torch.equal(compiled["negated"](each), -x)
    assert torch.equal(compiled["negated"](dual), -x)
