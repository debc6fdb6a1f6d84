"""What `inspect`, `functools` and `help` tell of programs and models, as of functions."""

from __future__ import annotations

import functools
import gc
import inspect
import pickle
import pydoc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import hirc
from hirc.compiler.errors import InputError
from hirc.compiler.loader_arguments import inputs_signature, text_of_builtin, with_options

_PROGRAM = """
func.func @scaled(%x: tensor<?xf32> {hir.name = "x"}, %k: f32 {hir.name = "k"})
    -> (tensor<?xf32> {hir.name = "y"}) {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %many = linalg.fill ins(%k : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %y = arith.mulf %x, %many : tensor<?xf32>
  return %y : tensor<?xf32>
}
"""


def _model(x: Tensor, gain: float = 2.0, *others: Tensor, shift: Tensor | None = None) -> Tensor:
    return x * gain if shift is None else x * gain + shift


def _with_out(x: Tensor, out: Tensor) -> Tensor:
    return x + out


def _with_more(x: Tensor, **more: Tensor) -> Tensor:
    return x + more["y"]


@pytest.fixture(scope="module")
def program() -> hirc.Artifact:
    return hirc.compile(_PROGRAM, target="cpu", opt_level=0)


def _compiled(model: Callable[..., Any], *args: Any, **kwargs: Any) -> hirc.Artifact:
    return hirc.compile(model, args, kwargs, target="cpu", opt_level=0)


@pytest.fixture(scope="module")
def model() -> hirc.Artifact:
    return _compiled(_model, torch.ones(3))


def _called(program: hirc.Artifact, model: hirc.Artifact) -> list[Any]:
    return [program, program.scaled, program.scaled.__call__, model, model.call]


def _saved(artifact: hirc.Artifact, folder: Path) -> hirc.Artifact:
    artifact.save(folder / "libsaved.so")
    return hirc.load(folder / "libsaved.so")


def test_a_program_has_the_signature_of_its_calls(program: hirc.Artifact, tmp_path: Path) -> None:
    loaded = _saved(program, tmp_path)
    for called in (program, program.scaled, program.scaled.__call__, program.call, loaded):
        assert str(inspect.signature(called)) == "(x, k, *, out=None, stream=None)"
        assert called.__name__ == "scaled"
    x = torch.arange(3.0)
    bound = inspect.signature(program).bind(x, k=2.0, out=torch.empty(3))
    assert program(*bound.args, **bound.kwargs).tolist() == [0, 2, 4]
    assert list(program.signature.parameters) == ["x", "k"]
    assert program.new_instance().__name__ == "scaled"


def test_a_model_has_its_signature_and_options(model: hirc.Artifact, tmp_path: Path) -> None:
    wanted = "(x, gain=2.0, *others, shift=None, out=None, stream=None)"
    for called in (model, model.call, _saved(model, tmp_path)):
        assert str(inspect.signature(called)) == wanted
    assert str(inspect.signature(model.program)) == "(x, *, out=None, stream=None)"
    assert str(model.signature) == "(x, gain=2.0, *others, shift=None)"


def test_options_that_are_the_models_own() -> None:
    x = torch.ones(3)
    assert str(inspect.signature(_compiled(_with_out, x, x))) == "(x, out, *, stream=None)"
    assert str(inspect.signature(_compiled(_with_more, x, y=x))) == "(x, **more)"


def test_several_programs_without_an_entry() -> None:
    text = _PROGRAM + _PROGRAM.replace("@scaled", "@other")
    several = hirc.compile(text, target="cpu", opt_level=0)
    assert str(inspect.signature(several)) == "(*args, **kwargs)"
    assert "other" in pydoc.render_doc(several)
    with pytest.raises(InputError, match="has several programs"):
        several(torch.ones(3), 1.0)


def test_classes_have_signatures_of_their_own() -> None:
    assert "loaded" in inspect.signature(hirc.Artifact).parameters
    with pytest.raises(AttributeError, match="__signature__"):
        hirc.Artifact.__signature__  # noqa: B018


def test_wrappers_and_help(program: hirc.Artifact, model: hirc.Artifact) -> None:
    for called in _called(program, model):

        @functools.wraps(called)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return 0

        assert inspect.signature(wrapped) == inspect.signature(called)
        assert (wrapped.__name__, wrapped.__doc__) == (called.__name__, called.__doc__)
        for each in (wrapped, called):
            assert isinstance(each.__module__, str)
            assert isinstance(each.__qualname__, str)
            assert isinstance(each.__doc__, str)
        assert called.__doc__.partition("\n")[0] in pydoc.render_doc(called)
    shown = "scaled(x: ?xf32, k: f32) -> (y: ?xf32)"
    assert str(program.scaled.__doc__).startswith(f"{shown}\n\nA program of a library.")
    assert str(program.__doc__).startswith(f"{shown}\n\nPrograms in this process")
    assert str(model.__doc__).startswith("main(x: a tensor, gain: 2.0, others: a tuple of 0, shift")


def test_a_function_of_a_library_is_not_pickled(program: hirc.Artifact) -> None:
    with pytest.raises(TypeError, match="neither copied nor pickled"):
        pickle.dumps(program.scaled.__call__)


def test_a_function_keeps_its_library() -> None:
    made = hirc.compile(_PROGRAM, target="cpu", opt_level=0)
    loaded, function = weakref.ref(made.loaded), made.scaled.__call__
    del made
    gc.collect()
    assert function(torch.ones(2), 3.0).tolist() == [3, 3]
    del function
    gc.collect()
    assert loaded() is None


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ([], "(*, out=None, stream=None)"),
        (["a", "b c", "d"], "(a, input1, /, d, *, out=None, stream=None)"),
        (["out", "lambda"], "(input0, input1, /, *, out=None, stream=None)"),
        (["a.b", "input0"], "(input0_, /, input0, *, out=None, stream=None)"),
    ],
)
def test_names_that_no_keyword_has(names: list[str], shown: str) -> None:
    assert str(with_options(inputs_signature(names))) == shown


def test_names_beyond_ascii() -> None:
    text = text_of_builtin("p", with_options(inputs_signature(["größe"])), "It says.")
    assert text == "p($self, *inputs, out=None, stream=None, **named)\n--\n\nIt says."
