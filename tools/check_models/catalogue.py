"""Every network by name, tiny and at the size that it is known for; and models from files."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.utils import _pytree as pytree

from .networks import convolutional as conv
from .networks import decoders, recurrent, transformers

SEED = 1
# What weights and inputs may be instead of what a network makes them.
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}

# What a model file defines, as KernelBench's do: Model, get_inputs() and get_init_inputs().
_DEFINED = ("Model", "get_inputs", "get_init_inputs")


def _once(call: Callable[..., Any], *inputs: Any) -> Any:
    return call(*inputs)


@dataclass(frozen=True)
class Network:
    """A network and what it is called with; `make` is told whether to be tiny.

    `open_sizes` gives torch.export's dynamic_shapes, and `others` further inputs, of other sizes,
    that it is called with, too; both are told the same. `drive` calls it as often as it likes, with
    the inputs to begin with, and gives what is compared.
    """

    name: str
    make: Callable[[bool], tuple[nn.Module, tuple[Any, ...]]]
    open_sizes: Callable[[bool], Any] | None = None
    others: Callable[[bool], list[tuple[Any, ...]]] = lambda _: []
    drive: Callable[..., Any] = _once


def made(description: dict[str, Any], folder: Path) -> tuple[nn.Module, tuple[Any, ...]]:
    """Returns the network that a description in a folder is of, ready to infer, and its inputs.

    They are the same in every process.
    """
    network, dtype = described(description, folder), description["dtype"]
    torch.manual_seed(SEED)
    model, inputs = network.make(description["tiny"])
    generator = torch.Generator(torch.get_default_device()).manual_seed(SEED)
    for path, buffer in model.named_buffers():
        # What batch norms have seen is then no longer 0 and 1.
        if path.endswith("running_mean"):
            buffer.normal_(0, 0.1, generator=generator)
        elif path.endswith("running_var"):
            buffer.uniform_(0.5, 1.5, generator=generator)
    if dtype is not None:
        model, inputs = model.to(DTYPES[dtype]), _with_floats(inputs, DTYPES[dtype])
    return model.eval().requires_grad_(requires_grad=False), inputs


def described(description: dict[str, Any], folder: Path) -> Network:
    """Returns the network that a description in a folder is of."""
    name = description["name"]
    if "file" in description:
        return from_file(folder / description["file"], name, description["batch"])
    return next(each for each in NETWORKS if each.name == name)


def other_inputs(description: dict[str, Any], folder: Path) -> list[tuple[Any, ...]]:
    """Further inputs of a network, the same in every process."""
    torch.manual_seed(SEED + 1)
    others = described(description, folder).others(description["tiny"])
    dtype = description["dtype"]
    return others if dtype is None else _with_floats(others, DTYPES[dtype])


def _with_floats(inputs: Any, dtype: torch.dtype) -> Any:
    def converted(x: Any) -> Any:
        return x.to(dtype) if isinstance(x, Tensor) and x.is_floating_point() else x

    return pytree.tree_map(converted, inputs)


def chosen(parts: str, files: Sequence[Path]) -> list[Network]:
    """Returns the networks with one of the parts in their names, of the catalogue or of model
    files.
    """
    patterns = [f"*{part}*" for part in parts.split(",")]
    networks = [from_file(file, file.stem) for file in files] if files else list(NETWORKS)
    return [each for each in networks if any(fnmatch(each.name, p) for p in patterns)]


def from_file(file: Path, name: str, batch: int | None = None) -> Network:
    """Returns the network that a model file defines; it raises ValueError where that defines none.

    With `batch` a variable batch_size of the file is that.
    """

    def make(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        missing = [name for name in _DEFINED if not hasattr(module, name)]
        if missing:
            raise ValueError(f"{file} defines no {', '.join(missing)}")
        if batch is not None and hasattr(module, "batch_size"):
            vars(module)["batch_size"] = batch
        return module.Model(*module.get_init_inputs()), tuple(module.get_inputs())

    return Network(name, make)


def _image(batch: int, size: int) -> tuple[Tensor]:
    return (torch.randn(batch, 3, size, size),)


def _words(count: int, batch: int, tokens: int) -> Tensor:
    return torch.randint(0, count, (batch, tokens))


def _mlp(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    widths = (20, 48, 33, 10) if tiny else (1024, 4096, 4096, 1000)
    return recurrent.mlp(widths), (torch.randn(7 if tiny else 128, widths[0]),)


def _resnet18(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    if tiny:
        return conv.resnet((1, 1), 8, 0, 10), _image(2, 9)
    return conv.resnet((2, 2, 2, 2), 64, 0, 1000), _image(16, 224)


def _resnet50(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    if tiny:
        return conv.resnet((1, 2), 4, 4, 10), _image(1, 10)
    return conv.resnet((3, 4, 6, 3), 64, 4, 1000), _image(16, 224)


def _inception(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    unit, size = (1, 9) if tiny else (32, 28)
    block = conv.Inception(6 * unit, 2 * unit, 4 * unit, unit, unit)
    return block, (torch.randn(2, 6 * unit, size, size),)


def _googlenet(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    if tiny:
        return conv.googlenet(4, 10, (1, 1)), _image(1, 44)
    return conv.googlenet(64, 1000, (2, 5, 2)), _image(16, 224)


def _vgg(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    if tiny:
        return conv.Vgg([(4,), (8, 8)], 16, 20, 10), _image(2, 16)
    stacks = [(64, 64), (128, 128), (256,) * 3, (512,) * 3, (512,) * 3]
    return conv.Vgg(stacks, 224, 4096, 1000), _image(8, 224)


def _mobilenet(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    rows = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3)]
    rows += [(6, 96, 3, 1, 3), (6, 160, 3, 2, 3), (6, 320, 1, 1, 3)]
    if tiny:
        return conv.inverted_residuals(rows[:2], 0.2, 24, 10, squeeze=False), _image(1, 32)
    return conv.inverted_residuals(rows, 1, 1280, 1000, squeeze=False), _image(16, 224)


def _efficientnet(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    rows = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3)]
    rows += [(6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]
    if tiny:
        rows = [*rows[:2], (6, 40, 1, 2, 5)]
        return conv.inverted_residuals(rows, 0.2, 24, 10, squeeze=True), _image(1, 32)
    return conv.inverted_residuals(rows, 1, 1280, 1000, squeeze=True), _image(16, 224)


def _convnext(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    if tiny:
        return conv.convnext((1, 1), (8, 12), 10), _image(1, 32)
    return conv.convnext((3, 3, 9, 3), (96, 192, 384, 768), 1000), _image(16, 224)


def _unet(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    if tiny:
        return conv.UNet(3, 2, (4, 8, 12)), _image(1, 20)
    return conv.UNet(3, 2, (64, 128, 256, 512)), _image(4, 256)


def _densenet(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    if tiny:
        return conv.densenet((2, 2), 4, 10), _image(1, 33)
    return conv.densenet((6, 12, 24, 16), 32, 1000), _image(16, 224)


def _squeezenet(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    return conv.squeezenet(*((2, 10) if tiny else (16, 1000))), _image(1, 39 if tiny else 224)


def _shufflenet(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    if tiny:
        return conv.shufflenet((2, 1), 8, 10), _image(1, 32)
    return conv.shufflenet((4, 8, 4), 116, 1000), _image(16, 224)


def _vit(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    if tiny:
        return transformers.Vit(16, 4, 24, 3, 1, 10), _image(2, 16)
    return transformers.Vit(224, 16, 768, 12, 12, 1000), _image(16, 224)


def _swin(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    size, width, heads, window = (8, 12, 3, 4) if tiny else (56, 96, 3, 7)
    blocks = (
        transformers.SwinBlock(size, width, heads, window, shift) for shift in (0, window // 2)
    )
    return nn.Sequential(*blocks), (torch.randn(2, size * size, width),)


def _bert(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    words, tokens, width, heads, layers = (50, 9, 24, 3, 1) if tiny else (30522, 256, 768, 12, 12)
    batch = 2 if tiny else 16
    kept = torch.arange(tokens) < torch.randint(1, tokens + 1, (batch, 1))
    given = (_words(words, batch, tokens), _words(2, batch, tokens), kept)
    return transformers.Bert(words, tokens, width, heads, layers), given


def _gpt2(batch: int, tokens: int) -> Callable[[bool], tuple[nn.Module, tuple[Any, ...]]]:
    def make(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
        if tiny:
            return transformers.Gpt2(50, 13, 24, 3, 1), (_words(50, 2, 13),)
        return transformers.Gpt2(50257, 1024, 768, 12, 12), (_words(50257, batch, tokens),)

    return make


def _gpt2_cached(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    words, tokens, width, heads, layers = (50, 13, 24, 3, 2) if tiny else (50257, 512, 768, 12, 12)
    model = transformers.Gpt2(words, tokens, width, heads, layers)
    batch, known = 2, tokens - 1
    caches = [
        tuple(torch.randn(batch, heads, known, width // heads) for _ in range(2))
        for _ in range(layers)
    ]
    return model, (_words(words, batch, 1), caches)


def _llama(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    if tiny:
        return transformers.Llama(50, 24, 6, 2, 40, 1, 5), (_words(50, 2, 11),)
    return transformers.Llama(32000, 2048, 32, 8, 5632, 8, 256), (_words(32000, 2, 512),)


_DECODED = 64


def _decoder(
    tiny: bool, *, window: bool = False, count: int = 1
) -> tuple[nn.Module, tuple[Any, ...]]:
    """Returns a decoder that keeps what it has seen, and the first `count` tokens."""
    words, tokens, width, heads, groups, layers = 50, 80, 24, 4, 4, 2
    if not tiny:
        words, tokens, width, heads, groups, layers = 50257, 1024, 768, 12, 12, 12
    seen = 0
    if window:
        groups, seen = (2, 24) if tiny else (4, 256)
    batch = 2 if tiny else 4
    model = decoders.Decoder(words, batch, tokens, width, heads, groups, layers, seen)
    return model, (_words(words, batch, count), torch.arange(count))


def _decoder_open(*, window: bool) -> Network:
    def open_sizes(tiny: bool) -> Any:
        count = Dim("count", min=1, max=80 if tiny else 1024)
        return {"tokens": {1: count}, "places": {0: count}}

    return Network(
        "llama_decoding_open" if window else "gpt2_decoding_open",
        lambda tiny: _decoder(tiny, window=window, count=7),
        open_sizes,
        lambda tiny: [_decoder(tiny, window=window, count=12 if tiny else 500)[1]],
        decoders.greedy(_DECODED),
    )


@dataclass(frozen=True)
class Opened:
    """A network of the catalogue with open sizes.

    `axes` has for each input the name of the size of each axis that is open, `limits` the least and
    the greatest of each size, `multiples` what some are multiples of, `tiny` and `full` what the
    sizes are in further calls. It is exported with the last of these, as torch takes a size of 1
    for one that is fixed.
    """

    name: str
    axes: Sequence[Mapping[int, str]]
    limits: Mapping[str, tuple[int, int]]
    tiny: Sequence[Mapping[str, int]]
    full: Sequence[Mapping[str, int]]
    multiples: Mapping[str, int] = field(default_factory=dict[str, int])

    def _dim(self, name: str) -> Any:
        (low, high), times = self.limits[name], self.multiples.get(name, 1)
        if times == 1:
            return Dim(name, min=low, max=high)
        return times * Dim(f"{name}_part", min=low // times, max=high // times)

    def network(self, networks: Sequence[Network]) -> Network:
        network = next(each for each in networks if each.name == self.name)

        def open_sizes(_: bool) -> Any:
            dims = {name: self._dim(name) for name in self.limits}
            return tuple(
                {axis: dims[name] for axis, name in axes.items()} or None for axes in self.axes
            )

        def of_sizes(inputs: tuple[Any, ...], sizes: Mapping[str, int]) -> tuple[Any, ...]:
            return tuple(
                _resized(x, {axis: sizes[name] for axis, name in axes.items()})
                for x, axes in zip(inputs, self.axes, strict=True)
            )

        def make(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
            model, inputs = network.make(tiny)
            return model, of_sizes(inputs, (self.tiny if tiny else self.full)[-1])

        def others(tiny: bool) -> list[tuple[Any, ...]]:
            _, inputs = network.make(tiny)
            return [of_sizes(inputs, sizes) for sizes in (self.tiny if tiny else self.full)[:-1]]

        return Network(f"{self.name}_open", make, open_sizes, others)


def _resized(x: Tensor, sizes: Mapping[int, int]) -> Tensor:
    """Returns a tensor with other sizes, its elements repeated where they are more."""
    for axis, size in sizes.items():
        rows = torch.arange(size) % x.shape[axis]
        x = x.index_select(axis, rows)
    return x.contiguous()


def _batches(name: str, *more: int) -> Opened:
    """Returns a network of images with an open batch."""
    sizes = [{"batch": size} for size in (1, 5, *more)]
    return Opened(name, [{0: "batch"}], {"batch": (1, 64)}, sizes, sizes)


def _sequences(name: str, inputs: int, tiny: int, full: int) -> Opened:
    """Returns a network of as many inputs of tokens, batch and length open; up to so
    many tokens.
    """
    return Opened(
        name,
        [{0: "batch", 1: "length"}] * inputs,
        {"batch": (1, 64), "length": (2, full)},
        [{"batch": 1, "length": tiny - 4}, {"batch": 3, "length": tiny}],
        [{"batch": 1, "length": full - 7}, {"batch": 4, "length": full // 2}],
    )


def _t5_whole(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    words, width, heads, buckets, layers, tokens = 50, 24, 3, 8, 1, 11
    if not tiny:
        words, width, heads, buckets, layers, tokens = 32128, 512, 8, 32, 6, 256
    model = transformers.T5(words, width, heads, buckets, layers)
    return model, (_words(words, 2, tokens), _words(words, 2, tokens + 3))


def _whisper_decoder(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    words, tokens, width, heads, layers, time = 50, 12, 24, 3, 1, 14
    if not tiny:
        words, tokens, width, heads, layers, time = 51865, 448, 512, 8, 6, 1500
    model = transformers.WhisperDecoder(words, tokens, width, heads, layers)
    return model, (_words(words, 2, tokens - 4), torch.randn(2, time, width))


def _t5(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    width, heads, buckets, tokens = (24, 3, 8, 11) if tiny else (768, 12, 32, 256)
    block = transformers.T5Block(width, heads, buckets)
    return block, (torch.randn(2, tokens, width), torch.randn(2, tokens + 3, width))


def _whisper(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    bands, time, width, heads, layers = (8, 14, 24, 3, 1) if tiny else (80, 3000, 512, 8, 6)
    model = transformers.Whisper(bands, time, width, heads, layers)
    return model, (torch.randn(1, bands, time),)


def _mixture(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    width, experts, tokens = (12, 4, 9) if tiny else (512, 8, 256)
    return transformers.Mixture(width, experts, 2), (torch.randn(2, tokens, width),)


def _gated(*, lstm: bool) -> Callable[[bool], tuple[nn.Module, tuple[Any, ...]]]:
    def make(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
        inputs, width, steps, batch = (5, 8, 3, 2) if tiny else (128, 256, 64, 32)
        model = recurrent.Gated(inputs, width, 10, lstm=lstm)
        return model, (torch.randn(batch, steps, inputs),)

    return make


def _layers(
    kind: type[nn.LSTM | nn.GRU], *, both: bool
) -> Callable[[bool], tuple[nn.Module, tuple[Any, ...]]]:
    def make(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
        inputs, width, steps, batch = (5, 6, 3, 2) if tiny else (128, 256, 64, 32)
        model = recurrent.Layers(kind, inputs, width, both=both)
        return model, (torch.randn(batch, steps, inputs),)

    return make


def _mamba(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    width, state, tokens = (8, 4, 9) if tiny else (512, 16, 64)
    return recurrent.Mamba(width, state), (torch.randn(2, tokens, width) / 4,)


_FIXED = (
    Network("mlp", _mlp),
    Network("resnet18", _resnet18),
    Network("resnet50", _resnet50),
    Network("inception", _inception),
    Network("googlenet", _googlenet),
    Network("vgg16", _vgg),
    Network("mobilenet_v2", _mobilenet),
    Network("efficientnet_b0", _efficientnet),
    Network("convnext", _convnext),
    Network("unet", _unet),
    Network("densenet121", _densenet),
    Network("squeezenet", _squeezenet),
    Network("shufflenet_v2", _shufflenet),
    Network("vit", _vit),
    Network("swin", _swin),
    Network("bert", _bert),
    Network("gpt2", _gpt2(8, 1024)),
    Network("gpt2_short", _gpt2(1, 128)),
    Network("gpt2_cached", _gpt2_cached),
    Network("gpt2_decoding", _decoder, drive=decoders.token_by_token(_DECODED)),
    _decoder_open(window=False),
    Network("llama", _llama),
    _decoder_open(window=True),
    Network("t5", _t5),
    Network("t5_whole", _t5_whole),
    Network("whisper", _whisper),
    Network("whisper_decoder", _whisper_decoder),
    Network("mixture", _mixture),
    Network("lstm_cell", _gated(lstm=True)),
    Network("gru_cell", _gated(lstm=False)),
    Network("lstm", _layers(nn.LSTM, both=False)),
    Network("gru_both_ways", _layers(nn.GRU, both=True)),
    Network("mamba", _mamba),
)
_OPENED = (
    _batches("mlp", 64),
    _batches("resnet18"),
    _batches("resnet50"),
    _batches("mobilenet_v2"),
    _batches("efficientnet_b0"),
    _batches("convnext"),
    _batches("vit"),
    _batches("swin"),
    Opened(
        "unet",
        [{0: "batch", 2: "height", 3: "width"}],
        {"batch": (1, 16), "height": (16, 512), "width": (16, 512)},
        [{"batch": 1, "height": 24, "width": 16}, {"batch": 2, "height": 24, "width": 32}],
        [{"batch": 1, "height": 200, "width": 312}, {"batch": 3, "height": 128, "width": 64}],
        {"height": 8, "width": 8},
    ),
    _sequences("bert", 3, 9, 256),
    _sequences("gpt2", 1, 13, 1024),
    _sequences("llama", 1, 11, 512),
    _sequences("mixture", 1, 9, 256),
    Opened(
        "t5_whole",
        [{0: "batch", 1: "length"}, {0: "batch", 1: "source"}],
        {"batch": (1, 64), "length": (2, 512), "source": (2, 512)},
        [{"batch": 1, "length": 4, "source": 17}, {"batch": 3, "length": 12, "source": 5}],
        [{"batch": 1, "length": 31, "source": 200}, {"batch": 4, "length": 128, "source": 77}],
    ),
    _batches("whisper"),
    Opened(
        "whisper_decoder",
        [{0: "batch", 1: "length"}, {0: "batch"}],
        {"batch": (1, 64), "length": (2, 12)},
        [{"batch": 1, "length": 5}, {"batch": 3, "length": 12}],
        [{"batch": 1, "length": 9}, {"batch": 3, "length": 12}],
    ),
    _sequences("lstm", 1, 9, 64),
    _sequences("gru_both_ways", 1, 9, 64),
)

NETWORKS = (*_FIXED, *(each.network(_FIXED) for each in _OPENED))
