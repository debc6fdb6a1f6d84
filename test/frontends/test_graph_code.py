"""The code of a graph that is written late is the code of the graph as it is then."""

from __future__ import annotations

import inspect
from copy import copy, deepcopy

import torch
from torch import Tensor, fx

from hirc.frontends.torch.graph_code import late_code


def _traced() -> fx.GraphModule:
    def function(x: Tensor, *, other: Tensor) -> Tensor:
        return x + other

    return fx.symbolic_trace(function)


def _multiply(module: fx.GraphModule) -> None:
    (node,) = (each for each in module.graph.nodes if each.op == "call_function")
    node.target = torch.mul


def test_code_is_written_when_it_is_asked_for() -> None:
    before, three, four = fx.GraphModule.recompile, torch.tensor(3.0), torch.tensor(4.0)
    with late_code():
        module, run = _traced(), _traced()
        assert "_code" not in vars(module)
        assert run(three, other=four) == 7
        _multiply(module)
        module.recompile()
        _multiply(run)
        run.recompile()
        assert "_code" not in vars(run)
        assert "mul" in run.code
    assert fx.GraphModule.recompile is before
    assert list(inspect.signature(module.forward).parameters) == ["x", "other"]
    assert [each(three, other=four) for each in (module, run)] == [12, 12]
    assert "mul" in module.code
    assert "mul" in str(module)


def test_copies_and_modules_within_modules() -> None:
    with late_code():
        inner = _traced()
        outer = fx.symbolic_trace(torch.nn.ReLU())
        outer.inner = inner
        copies = [copy(inner), deepcopy(inner), deepcopy(outer).inner]
        outer.recompile()
    two = torch.tensor(2.0)
    for each in (outer.inner, *copies):
        assert isinstance(each, fx.GraphModule)
        assert each(two, other=two) == 4
    assert type(inner).forward is type(inner).forward
    assert outer(-two) == 0
