"""Models compiled in Python: they are called as they were, also by a process without torch."""

from __future__ import annotations

import copy
import functools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.export import AdditionalInputs, Dim, ShapesCollection
from torch.utils import _pytree as pytree

import hirc
from hirc.compiler.errors import (
    ExecutionError,
    HircError,
    InputError,
    InternalError,
    UnsupportedError,
)
from hirc.compiler.loader_calling import Calling
from hirc.compiler.options import Options
from hirc.compiler.safetensors import Tensor as Saved
from hirc.compiler.safetensors import TensorFile, joined
from hirc.frontends.torch import integers
from hirc.frontends.torch.import_model import import_model
from hirc.frontends.torch.user_errors import decomposing_error, user_frames
from support.environment import ROOT
from support.no_memory import without_memory
from support.weights import write_values

pytestmark = pytest.mark.xdist_group("compile_model")


class _Model(nn.Module):
    """Keyword arguments, defaults, nested containers, and outputs that are no tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(
        self, x: dict[str, Tensor], gain: float = 2.0, *, mask: Tensor | None = None
    ) -> dict[str, Any]:
        y = x["a"] * gain + self.shift
        if mask is not None:
            y = y * mask
        return {"y": y, "none": None, "both": (y.shape[0], [x["a"], True])}


@pytest.fixture(scope="module")
def artifact() -> hirc.Artifact:
    batch = Dim("batch", min=2, max=8)
    with torch.device("meta"):
        given = {"a": torch.zeros(3, 3)}, {"mask": torch.zeros(3, 3)}
    shapes = {"x": {"a": {0: batch}}, "mask": {0: batch}}
    return hirc.compile(
        _Model(), given[:1], given[1], dynamic_shapes=shapes, target="cpu", opt_level=0
    )


def test_calls(artifact: hirc.Artifact) -> None:
    a, mask = torch.randn(4, 3), torch.randn(4, 3)
    found, wanted = artifact({"a": a}, mask=mask), _Model()({"a": a}, mask=mask)
    assert list(found) == list(wanted)
    torch.testing.assert_close(found["y"], wanted["y"])
    assert (found["none"], found["both"][0], found["both"][1][1]) == (None, 4, True)
    assert found["both"][1][0] is a
    assert artifact(x={"a": a}, gain=2.0, mask=mask)["y"].equal(found["y"])
    assert artifact.dims == {"batch": (2, 8)}


class _Wrapped(nn.Module):
    """A module whose wrapped forward adds keywords, depending on those that it was passed."""

    def _inner(
        self, x: Tensor, mask: Tensor | None = None, scale: float = 1.0, offset: float | None = None
    ) -> Tensor:
        y = x * scale + (0.0 if offset is None else offset)
        return y if mask is None else y * mask

    @functools.wraps(_inner)
    def forward(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, *args: Any, **kwargs: Any
    ) -> Tensor:
        assert len(args) == 1
        if kwargs.get("scale") is None:
            kwargs["scale"] = 3.0
        return self._inner(*args, **kwargs)


def test_keywords_are_passed_as_such() -> None:
    x, mask = torch.randn(4, 3), torch.randn(4, 3)
    batch = Dim("batch", min=2, max=8)
    shapes = {"offset": None, "x": {0: batch}, "mask": {0: batch}}
    made = hirc.compile(
        _Wrapped(), (x,), {"mask": mask}, dynamic_shapes=shapes, target="cpu", opt_level=0
    )
    wanted = _Wrapped()(x[:3], mask=mask[:3])
    torch.testing.assert_close(made(x[:3], mask=mask[:3]), wanted)
    torch.testing.assert_close(made(mask=mask[:3], x=x[:3], offset=None), wanted)
    with pytest.raises(InputError, match=r"input 'scale' of main is 2.0, and it was 1.0"):
        made(x, mask, 2.0)


def _takes_all(x: Tensor, *others: Tensor, scale: Tensor, **more: Any) -> Tensor:
    return x * scale + others[0].sum() + more["a"].sum(0) - more["b"]["c"].sum()


def _takes_more(**more: Tensor) -> Tensor:
    return more["more"] + 1


def _given(x: int, other: int, a: int, c: int) -> tuple[tuple[Tensor, ...], dict[str, Any]]:
    more = {"b": {"c": torch.rand(c)}, "a": torch.rand(a, 3)}
    return (torch.rand(x, 3), torch.rand(other)), {**more, "scale": torch.rand(3)}


_ROWS, _PARTS = Dim("rows", min=2, max=50), Dim("parts", min=2, max=9)


def _collected(args: Any, kwargs: Any) -> ShapesCollection:
    found = ShapesCollection()
    found[args[0]], found[kwargs["a"]], found[kwargs["b"]["c"]] = ({0: _ROWS}, {0: _PARTS}, None)
    return found


def _additional(*_: Any) -> AdditionalInputs:
    found = AdditionalInputs()
    found.add(*_given(7, 5, 6, 2))
    return found


@pytest.mark.parametrize(
    "shapes",
    [
        {"x": {0: _ROWS}, "a": (_PARTS, None), "b": {"c": None}},
        {"x": {0: _ROWS}, "more": {"a": {0: _PARTS}}},
        {"a": {0: _PARTS}, "others": None, "scale": None, "x": (_ROWS, 3)},
        ({0: _ROWS}, None, None, {"a": {0: _PARTS}, "b": None}),
        _collected,
        _additional,
    ],
)
def test_sizes_of_any_arguments_stay_open(shapes: Any) -> None:
    given = _given(4, 5, 3, 2)
    said = shapes(*given) if callable(shapes) else shapes
    compiled = hirc.compile(_takes_all, *given, dynamic_shapes=said, target="cpu", opt_level=0)
    args, kwargs = _given(6, 5, 8, 2)
    torch.testing.assert_close(compiled(*args, **kwargs), _takes_all(*args, **kwargs))
    args, kwargs = _given(6, 5, 8, 3)
    with pytest.raises(InputError, match="input 'b_c' of main: size 0 is 3, the program takes 2"):
        compiled(*args, **kwargs)


class _Cache:
    """A cache as Hugging Face's transformers registers it: of tensors under two names."""

    def __init__(self, keys: list[Tensor], values: list[Tensor]) -> None:
        self.keys, self.values = keys, values


def _taken_apart(cache: _Cache) -> tuple[list[Any], list[str]]:
    return [cache.keys, cache.values], ["keys", "values"]


def _with_keys(cache: _Cache) -> tuple[list[tuple[Any, Any]], list[str]]:
    parts, names = _taken_apart(cache)
    keys: list[Any] = [pytree.MappingKey(name) for name in names]
    return list(zip(keys, parts, strict=True)), names


pytree.register_pytree_node(
    _Cache,
    _taken_apart,
    lambda parts, _: _Cache(*parts),
    serialized_type_name="test_compile._Cache",
    flatten_with_keys_fn=_with_keys,
)


def _decode(x: Tensor, *, cache: _Cache | None = None, **_: Any) -> dict[str, Any]:
    assert cache is not None
    cache.keys[0] = torch.cat([cache.keys[0], x], 1)
    cache.values[0] = torch.cat([cache.values[0], x * 2], 1)
    scores = x @ cache.keys[0].mT
    return {"y": scores.softmax(-1) @ cache.values[0] + cache.values[1], "cache": cache}


def _cached(length: int) -> _Cache:
    return _Cache([torch.rand(2, length, 4)], [torch.rand(2, length, 4), torch.rand(4)])


def test_caches_of_open_length_are_passed_and_returned() -> None:
    shapes = {"cache": {"keys": [{1: _ROWS}], "values": [{1: _ROWS}, None]}}
    x = torch.rand(2, 1, 4)
    compiled = hirc.compile(
        _decode, (x,), {"cache": _cached(3)}, dynamic_shapes=shapes, target="cpu", opt_level=0
    )
    given = _cached(5)
    found = compiled(x, cache=given)
    wanted = _decode(x, cache=_Cache([*given.keys], [*given.values]))
    assert type(found["cache"]) is _Cache
    leaves, others = pytree.tree_leaves(found), pytree.tree_leaves(wanted)
    torch.testing.assert_close(leaves, others)


def test_sizes_of_further_arguments_stay_open() -> None:
    imported = import_model(
        _takes_all,
        *_given(1, 1, 4, 1),
        dynamic_shapes={"others": ({0: _ROWS},), "b": {"c": {0: _PARTS}}},
    )
    assert set(imported.calling.data["dims"]) == {"rows", "parts"}
    # A keyword that is called as the parameter which takes all others.
    imported = import_model(
        _takes_more,
        kwargs={"more": torch.zeros(3)},
        dynamic_shapes={"more": {0: _ROWS}},
    )
    assert set(imported.calling.data["dims"]) == {"rows"}


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        ({"y": {0: _ROWS}}, "names 'y', which is no input"),
        ({"more": {"y": {0: _ROWS}}}, "names 'y', which is no input"),
        ((None,) * 5, "has 5 entries for 4 inputs"),
        (_ROWS, "is a Dim, no dict, tuple or list"),
    ],
)
def test_wrong_dynamic_shapes_say_so(shapes: Any, said: str) -> None:
    with pytest.raises(InputError, match=f"dynamic_shapes {said}"):
        import_model(_takes_all, *_given(3, 3, 4, 2), dynamic_shapes=shapes)


def test_wrong_calls_say_so(artifact: hirc.Artifact) -> None:
    good = torch.zeros(4, 3)
    for a, mask, said in (
        (good, good.double(), "input 'mask' of main: its elements are f64, the program takes f32"),
        (good[:, 0], good, "it has 1 dim, the program takes 2"),
        (good[:, :2], good, "size 1 is 2, the program takes 3"),
    ):
        with pytest.raises(InputError, match=said):
            artifact({"a": a}, mask=mask)
    with pytest.raises(InputError, match=r"size 'batch' of main is 9, and .* compiled for 2 to 8"):
        artifact({"a": torch.zeros(9, 3)}, mask=torch.zeros(9, 3))
    with pytest.raises(InputError, match="'batch' is 4 by size 0 of input 'x_a'"):
        artifact({"a": good}, mask=good[:3])


class _Plain:
    """Has DLPack's methods, and nothing else."""

    def __init__(self, values: Any) -> None:
        self._values = values
        self.shape = values.shape

    def __dlpack__(self, **asked: Any) -> Any:
        return self._values.__dlpack__(**asked)

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()


@pytest.mark.parametrize("kind", [np.asarray, torch.as_tensor, _Plain])
def test_outputs_are_handed_in(artifact: hirc.Artifact, kind: Any) -> None:
    ones = np.ones((4, 3), np.float32)
    values = np.zeros((4, 3), np.float32)
    a, mask, y = kind(ones), kind(ones), kind(values)
    found = artifact({"a": a}, mask=mask, out={"y": y, "none": None, "both": None})
    assert found["y"] is y
    assert found["both"][1][0] is a
    assert values.tolist() == [[3.0, 4.0, 5.0]] * 4
    assert artifact({"a": a}, mask=mask, out=None, stream=0)["y"] is not y


def _reshaped(
    q: torch.Tensor, k: torch.Tensor, x: torch.Tensor, w: torch.Tensor
) -> list[torch.Tensor]:
    """Results that torch-mlir gives in other shapes."""
    functional = nn.functional
    return [
        functional.scaled_dot_product_attention(q, k, k, enable_gqa=True),
        functional.conv1d(x, w[:, :1], groups=x.shape[1]),
        functional.conv1d(x, w).flatten(1),
        (x.flatten(0, 1) @ x[0].mT).unflatten(0, x.shape[:2]),
        torch.stack([x, -x], 1),
    ]


def test_results_in_other_shapes_are_handed_in() -> None:
    """A call that takes no memory for them would be one by Python's code, of 50 us."""
    sizes = (1, 4, 1, 16), (1, 2, 48, 16), (2, 4, 9), (4, 4, 3)
    given = [torch.randn(size).bfloat16() for size in sizes]
    net = hirc.compile(_reshaped, given, target="cpu", opt_level=1)
    exact = _reshaped(*(each.double() for each in given))
    rooms = [torch.full(each.shape, torch.nan).bfloat16() for each in exact]
    found = net(*given, out=rooms)
    for number, (each, room, wanted) in enumerate(zip(found, rooms, exact, strict=True)):
        assert each is room, number
        torch.testing.assert_close(room.double(), wanted, rtol=0.02, atol=0.05)


_RESULTS = """
func.func @main(%x: tensor<4x8x6x16xf32> {hir.name = "x"}, %w: tensor<16x3xf32> {hir.name = "w"})
    -> (tensor<4x48x3xf32> {hir.name = "y"}, tensor<4x8x6xf32> {hir.name = "z"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8x6x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8x6x3xf32>) -> tensor<4x8x6x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, n, k) -> (a, b, c, k)>,
                                        affine_map<(a, b, c, n, k) -> (k, n)>,
                                        affine_map<(a, b, c, n, k) -> (a, b, c, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel",
                                         "reduction"]}
      ins(%x, %w : tensor<4x8x6x16xf32>, tensor<16x3xf32>) outs(%f : tensor<4x8x6x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x8x6x3xf32>
  %r = tensor.collapse_shape %y [[0], [1, 2], [3]] : tensor<4x8x6x3xf32> into tensor<4x48x3xf32>
  %c = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<4x8x6x16xf32> into tensor<32x6x16xf32>
  %g = tensor.empty() : tensor<32x6xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<32x6xf32>) -> tensor<32x6xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(a, c, k) -> (a, c, k)>,
                                        affine_map<(a, c, k) -> (a, c)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c : tensor<32x6x16xf32>) outs(%h : tensor<32x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<32x6xf32>
  %z = tensor.expand_shape %t [[0, 1], [2]] output_shape [4, 8, 6]
      : tensor<32x6xf32> into tensor<4x8x6xf32>
  return %r, %z : tensor<4x48x3xf32>, tensor<4x8x6xf32>
}
"""


@pytest.mark.parametrize("products", ["auto", "own", "library"])
def test_reshaped_results_in_memory_that_is_packed(products: str) -> None:
    net = hirc.compile(_RESULTS, target="cpu", products=products, opt_level=1)
    x, w = torch.randn(4, 8, 6, 16), torch.randn(16, 3)
    y, z = torch.full((4, 48, 3), torch.nan), torch.full((4, 8, 6), torch.nan)
    net.main(x, w, out=(y, z))
    torch.testing.assert_close(y, (x @ w).flatten(1, 2))
    torch.testing.assert_close(z, x.sum(-1))
    # The view that is written has the strides of packed memory.
    apart = torch.full((4, 3, 48), torch.nan).mT
    with pytest.raises(ExecutionError, match="stride 1 of axis 1, where the program takes 3"):
        net.main(x, w, out=(apart, z))


_DIVIDED = """
func.func @main(%x: tensor<?xf32> {hir.name = "x"}, %k: index {hir.name = "k"})
    -> (tensor<?x?xf32> {hir.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %y = arith.negf %x : tensor<?xf32>
  %q = arith.divui %n, %k : index
  %r = tensor.expand_shape %y [[0, 1]] output_shape [%k, %q] : tensor<?xf32> into tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""


def test_sizes_that_divide_are_known_before_results() -> None:
    net = hirc.compile(_DIVIDED, target="cpu", checks=["memory"], opt_level=1)
    x, room = torch.arange(12.0), torch.full((3, 4), torch.nan)
    net.main(x, 3, out=room)
    assert torch.equal(room, -x.reshape(3, 4))
    with pytest.raises(ExecutionError, match="a division by 0"):
        net.main(x, 0)
    with pytest.raises(ExecutionError, match="size"):
        net.main(x, 5)


def test_wrong_outputs_say_so(artifact: hirc.Artifact) -> None:
    good = torch.zeros(4, 3)
    rest = {"none": None, "both": None}
    for out, said in (
        (good, "output 'out' of main is of type Tensor, not a dict of 'y', 'none', 'both'"),
        ({"y": good}, "output 'out' of main has no 'none'"),
        ({"y": 3, **rest}, r"output 'out\['y'\]' of main is of type int, where the program takes"),
        (
            {"y": good, "none": None, "both": (4, None)},
            r"output 'out\['both'\]\[0\]' of main is of type int, where the model gives no tensor",
        ),
        ({"y": good[:2], **rest}, "output 'y' of main: size 0 is 2"),
        ({"y": good.double(), **rest}, "output 'y' of main: its elements are f64"),
    ):
        with pytest.raises(InputError, match=said):
            artifact({"a": good}, mask=good, out=out)


def test_what_the_model_takes_is_not_the_call_s() -> None:
    parameter = {"kind": "POSITIONAL_OR_KEYWORD", "default": {"value": None}}
    rest = {"version": 1, "inputs": {}, "outputs": {"tuple": [{"tensor": 0}] * 2}, "dims": {}}
    own = Calling({**rest, "parameters": [{"name": "out", **parameter}]}, "main")
    assert own.takes("out")
    assert not own.takes("stream")
    any_name = Calling({**rest, "parameters": [{"name": "rest", "kind": "VAR_KEYWORD"}]}, "main")
    assert any_name.takes("out")
    one, other = torch.zeros(1), torch.zeros(1)
    assert own.outputs_in((one, None)) == {0: one}
    with pytest.raises(InputError, match=r"output 'out\[1\]' of main is another tensor than where"):
        own.outputs_in((one, other))


def _sums(x: Tensor, y: Tensor) -> Tensor:
    return x.sum(0) + y.sum(0)


def test_sizes_are_asserted() -> None:
    batch = Dim("batch", min=2, max=8)
    shapes = {"x": {0: batch}, "y": {0: 2 * batch}}
    imported = import_model(
        _sums,
        (torch.zeros(3, 2), torch.zeros(6, 2)),
        dynamic_shapes=shapes,
    )
    for said in ("at least 2", "at most 8", "2 times 'batch' and 0 more"):
        assert said in imported.text
    assert 'hir.sizes = ["batch", 2]' in imported.text


_ELSEWHERE = """\
import sys
import numpy as np
import hirc

a = np.ones((2, 3), np.float32)
found = hirc.load(sys.argv[1])({"a": a}, mask=a)
assert not {"torch", "torch_mlir"} & set(sys.modules)
print(found["y"].tolist(), found["none"], found["both"][0])
"""


def test_saved(artifact: hirc.Artifact, tmp_path: Path) -> None:
    artifact.save(tmp_path / "libmodel.so")
    command = [sys.executable, "-c", _ELSEWHERE, str(tmp_path / "libmodel.so")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout == "[[3.0, 4.0, 5.0], [3.0, 4.0, 5.0]] None 2\n", done.stderr
    with pytest.raises(InputError, match=r"cannot write .*: No such file"):
        artifact.save(tmp_path / "nowhere" / "libmodel.so")


def test_importing_hirc_loads_neither_torch_nor_mlir() -> None:
    code = "import hirc, sys; print({'torch', 'torch_mlir'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "set()\n", done.stderr


class _Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(5, 4)
        self.head = nn.Linear(4, 5, bias=False)
        self.head.weight = self.embed.weight
        self.unused = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.embed(x) + torch.arange(4))


def test_weights_in_a_file_are_saved_along(tmp_path: Path) -> None:
    model, x = _Tied(), torch.tensor([[1, 4]])
    with torch.no_grad():
        wanted = model(x)
        artifact = hirc.compile(model, (x,), target="cpu", opt_level=0, weights="external")
        torch.testing.assert_close(artifact(x), wanted)
        artifact.save(tmp_path / "libmodel.so")
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "libmodel.safetensors",
        "libmodel.so",
    ]
    del artifact
    loaded = hirc.load(tmp_path / "libmodel.so")
    assert isinstance(loaded, hirc.Artifact)
    torch.testing.assert_close(loaded(x), wanted)


def test_libraries_of_one_class_have_weights_of_their_own(tmp_path: Path) -> None:
    x = torch.tensor([[1, 4]])
    wanted: dict[str, Tensor] = {}
    for name in ("one", "two"):
        model = _Tied()
        artifact = hirc.compile(model, (x,), target="cpu", opt_level=0, weights="external")
        artifact.save(tmp_path / f"{name}.so")
        wanted[name] = model(x).detach()
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        *("one.safetensors", "one.so", "two.safetensors", "two.so")
    ]
    for name, result in wanted.items():
        torch.testing.assert_close(hirc.load(tmp_path / f"{name}.so")(x), result)
    # What was loaded keeps the name that it has.
    (tmp_path / "a").mkdir()
    first, second = (hirc.load(tmp_path / f"{name}.so") for name in wanted)
    first.save(tmp_path / "a/main.so")
    first.save(tmp_path / "a/main.so")
    second.save(tmp_path / "a/other.so")
    torch.testing.assert_close(hirc.load(tmp_path / "a/main.so")(x), wanted["one"])
    (tmp_path / "b").mkdir()
    (tmp_path / "b/one.safetensors").write_bytes((tmp_path / "two.safetensors").read_bytes())
    with pytest.raises(InputError, match=r"weights by the name one\.safetensors, and there are"):
        first.save(tmp_path / "b/main.so")
    assert not (tmp_path / "b/main.so").exists()


def test_weights_that_come_later_are_looked_for_beside_the_library(tmp_path: Path) -> None:
    text = """
func.func @main(%x: tensor<4xf32> {hir.name = "x"}, %w: tensor<4xf32> {hirc.weight = "w"})
    -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %w : tensor<4xf32>, tensor<4xf32>)
      outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
    hirc.compile(text, target="cpu", cache=False).save(tmp_path / "later ü.so")
    library = hirc.load(tmp_path / "later ü.so")
    with pytest.raises(InputError, match=r"later ü\.safetensors cannot be read: No such file"):
        library(torch.ones(4))


def test_a_file_may_have_either_name_of_a_tied_weight() -> None:
    def file(name: str, metadata: dict[str, str]) -> TensorFile:
        return TensorFile(Path("some"), {name: Saved("F32", (0,), memoryview(b""))}, metadata)

    own, model = file("head", {}), file("embed", {"head": "embed"})
    assert list(joined([own, model]).tensors) == ["head"]
    for name in ("head", "embed"):
        found = joined([own, model]).find(name)
        assert found is not None
        assert found[1] is own.tensors["head"]


@pytest.mark.parametrize(
    "held", [lambda: without_memory(9, 9), lambda: torch.ones(9, 9).to_mkldnn()]
)
def test_weights_that_cannot_be_read(held: Any) -> None:
    class Held(nn.Module):
        w: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("w", held())

        def forward(self, x: Tensor) -> Tensor:
            return x @ self.w

    said = "the values of weight 'w' cannot be read: (LookupError|NotImplementedError): "
    with pytest.raises(UnsupportedError, match=said) as caught:
        hirc.compile(Held(), (torch.ones(2, 9),), target="cpu")
    assert isinstance(caught.value.__cause__, (LookupError, NotImplementedError))


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_tied_weights_are_one(device: str) -> None:
    model = _Tied().to(device)
    if device == "meta":
        # What moves a module unties it.
        model.head.weight = model.embed.weight
    imported = import_model(model, (torch.zeros(2, 3, dtype=torch.int64, device=device),))
    assert imported.arguments == (0, "embed.weight")
    assert imported.aliases == {"embed.weight": ("head.weight",)}
    assert model.embed.weight.device.type == device
    assert type(model.embed.weight) is nn.Parameter


class _Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.tensor([2.0, 3.0]), requires_grad=False)

    def forward(self, x: Tensor, others: list[Tensor]) -> tuple[Tensor, ...]:
        return x * self.gain, others[0] - x, others[1] + 1


def _of_strides(x: Tensor, image: Tensor) -> tuple[Tensor, Tensor]:
    y = x * x.stride(0) if x.is_contiguous() else x - 1
    is_last = image.is_contiguous(memory_format=torch.channels_last)
    return y + x.as_strided((4, 3), (1, 2)).sum(), image + (1 if is_last else 2)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_examples_of_any_strides_stand_for_packed_rows(device: str) -> None:
    x, image = torch.rand(3, 4).T, torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last)
    examples = x.to(device), image.to(device)
    compiled = hirc.compile(_of_strides, examples, target="cpu", opt_level=0)
    packed = x.contiguous(), image.contiguous()
    torch.testing.assert_close(compiled(*packed), _of_strides(*packed))
    with pytest.raises(
        InputError, match=r"input 'image' of main: .* takes 20 \(packed rows\): copy"
    ):
        compiled(packed[0], image)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_inputs_that_were_one_tensor_are_several(device: str) -> None:
    model, x = _Scaled().to(device), torch.ones(2, device=device)
    compiled = hirc.compile(model, (x, [x, model.gain]), target="cpu", opt_level=0)
    given = (torch.tensor([1.0, 5.0]), [torch.tensor([7.0, 8.0]), torch.tensor([0.0, 4.0])])
    if device == "cpu":
        torch.testing.assert_close(compiled(*given), model(*given))
    else:
        names = [each.name for each in compiled.program.inputs]
        assert names == ["x", "others_0", "others_1"]


class _Normed(nn.Module):
    """Operators that are rewritten before torch decomposes them, one of them in a branch."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.BatchNorm1d(4), nn.BatchNorm1d(4, affine=False)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        y = nn.functional.scaled_dot_product_attention(y, y, y).view(-1, 4, 8)
        return torch.cond(y.sum() > 0, self.second, torch.neg, (y,))


@torch.no_grad()
def test_an_exported_program_stays_as_it_was() -> None:
    model, x = _Normed().eval(), torch.randn(3, 4, 8)
    program = torch.export.export(model, (x,), dynamic_shapes=({0: Dim.AUTO},))
    before = program.graph_module.print_readable(print_output=False)
    compiled = hirc.compile(program, target="cpu", opt_level=0)
    assert program.graph_module.print_readable(print_output=False) == before
    for shifted in (x + 1, x - 1):
        torch.testing.assert_close(compiled(shifted), model(shifted))
        torch.testing.assert_close(program.module()(shifted), model(shifted))


def test_a_model_without_memory_is_imported() -> None:
    """Some hundred GB of weights: nothing of that size is made."""
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(1 << 17, 1 << 17), nn.Linear(1 << 17, 1 << 17))
        x = torch.zeros(1, 1 << 17)
    imported = import_model(model, (x,))
    assert len(imported.bytecode) < 1 << 14
    assert sum(each.nbytes for each in imported.weights.values()) > 128 << 30


def test_an_exported_program_is_imported() -> None:
    program = torch.export.export(_Model(), ({"a": torch.zeros(3, 3)},), strict=False)
    imported = import_model(program)
    assert imported.calling.data["inputs"] == {"x": {"dict": [["a", {"tensor": 0}]]}}


class _Wrong(nn.Module):
    def forward(self, x: Tensor, kind: str) -> Any:
        if kind == "decides":
            return x + 1 if x.sum() > 0 else x
        if kind == "raises":
            return x @ x.new_zeros(7)
        if kind == "assigns":
            x.data = x + 1
            return x
        return torch.linalg.eigvals(x + 1).real


@pytest.mark.parametrize(
    ("kind", "said", "source"),
    [
        ("decides", "torch cannot export the model: .*", "return x + 1 if x.sum() > 0 else x"),
        ("raises", "torch cannot export the model: .*", "return x @ x.new_zeros(7)"),
        ("assigns", "a model cannot assign to the attribute 'data' of a tensor", "x.data = x + 1"),
        (
            "unknown",
            "torch-mlir cannot lower the model: 'aten.linalg_eig' has no lowering",
            "return torch.linalg.eigvals(x + 1).real",
        ),
    ],
)
def test_what_cannot_be_compiled_is_at_its_line(
    kind: str, said: str, source: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UnsupportedError, match=said) as raised:
        import_model(_Wrong(), (torch.ones(3, 3), kind))
    position = raised.value.position
    assert position is not None
    assert position.file == __file__
    assert Path(__file__).read_text().splitlines()[position.line - 1].strip() == source
    assert capfd.readouterr() == ("", "")


def test_a_mistake_in_what_an_operator_is_made_of_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(x: Any, y: Any) -> Any:
        return y.bits(x)

    monkeypatch.setattr(integers, "_of_two", wrong)
    with pytest.raises(InternalError, match=r"internal error .*: TypeError: .*") as raised:
        import_model(torch.gcd, (torch.ones(3, 3, dtype=torch.int64),) * 2)
    assert "report this" in (raised.value.hint or "")


def test_a_bug_is_a_bug_where_hirc_is_imported_through_a_link(tmp_path: Path) -> None:
    link = tmp_path / "hirc"
    link.symlink_to(ROOT, target_is_directory=True)
    file = link / "frontends" / "torch" / "integers.py"
    code = compile("1 + 'one'", str(file), "eval")
    with pytest.raises(TypeError) as raised:
        eval(code)
    assert isinstance(decomposing_error(raised.value), InternalError)
    hircs = f'  File "{file}", line 1, in wrong\n    1\n'
    assert user_frames(hircs + '  File "/torch.py", line 2, in all\n    2\n').startswith(
        '  File "/t'
    )
    assert user_frames(hircs) == ""


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: import_model(_Wrong(), ()), "_Wrong.forward cannot be called .*: missing"),
        (
            lambda: import_model(_Wrong(), (torch.ones(1), "raises"), dynamic_shapes={"y": None}),
            "dynamic_shapes names 'y', which is no input",
        ),
        (lambda: hirc.compile(len, (torch.ones(2),)), "gives no tensor"),
        (lambda: hirc.compile(torch.relu, (torch.ones(2),), target="sm_1"), "unknown offload arch"),
        (lambda: hirc.compile(torch.relu, (np.ones(2),)), "torch cannot export the model"),
    ],
)
def test_wrong_requests(make: Any, said: str) -> None:
    with pytest.raises(HircError, match=said):
        make()


def test_products_round_to_tf32_where_torch_allows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def taken(options: Options, **_: object) -> None:
        seen.append(options.float32_products)
        raise InputError("taken")

    monkeypatch.setattr("hirc.compiler.compile_code.CodeCompilation", taken)

    def compiled(precision: str, **options: Any) -> None:
        torch.set_float32_matmul_precision(precision)
        with pytest.raises(InputError, match="taken"):
            hirc.compile(torch.sin, (torch.rand(3),), target="cpu", cache=False, **options)

    before = torch.get_float32_matmul_precision()
    try:
        for precision in ("highest", "high", "medium"):
            compiled(precision)
        compiled("high", float32_products="bf16x3")
    finally:
        torch.set_float32_matmul_precision(before)
    assert seen == ["ieee", "tf32", "tf32", "bf16x3"]


def test_a_partial_function_is_a_model() -> None:
    net = hirc.compile(functools.partial(torch.sub, torch.ones(3)), (torch.ones(3),), target="cpu")
    torch.testing.assert_close(net(torch.zeros(3)), torch.ones(3))


def test_values_of_a_file_have_all_parameters(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 4)).eval()
    model[2].bias = model[0].bias  # tied
    x = torch.randn(2, 3)
    values = {name: value.detach().numpy() + 1 for name, value in model.state_dict().items()}

    def compiled(named: dict[str, np.ndarray]) -> hirc.Artifact:
        path = write_values(tmp_path / "values.safetensors", named)
        return hirc.compile(model, (x,), target="cpu", cache=False, weights_from=path)

    def without(*parts: str) -> dict[str, np.ndarray]:
        return {
            name: value
            for name, value in values.items()
            if "tracked" not in name and not any(part in name for part in parts)
        }

    artifact = compiled(without())
    other = copy.deepcopy(model)
    other.load_state_dict({name: torch.as_tensor(value) for name, value in values.items()})
    torch.testing.assert_close(artifact(x), other(x), rtol=1e-5, atol=1e-5)
    # Buffers may lack, and all names but one of what is tied.
    compiled(without("running"))
    compiled(without("0.bias"))
    compiled(without("2.bias") | {"more": np.ones(3, np.float32)})
    for named, missing in (
        (without("1."), "'1.bias', '1.weight'"),
        (without("0.bias", "2.bias"), "'0.bias'"),
    ):
        with pytest.raises(InputError, match=f"lacks parameters of the model: {missing}$"):
            compiled(named)
    for prefixed in (
        {f"module.{name}": value for name, value in values.items() if "tracked" not in name},
        {"weight": values["0.weight"]},
    ):
        with pytest.raises(InputError, match="lacks parameters") as caught:
            compiled(prefixed)
        assert "its names have to be those of the model's state_dict" in str(caught.value.hint)
