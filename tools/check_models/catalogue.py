"""Every network by name, tiny and at the size that it is known for; and models from files."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from .networks import convolutional as conv
from .networks import recurrent, transformers

SEED = 1
# What weights and inputs may be instead of what a network makes them.
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}

# What a model file defines, as KernelBench's do: Model, get_inputs() and get_init_inputs().
_DEFINED = ("Model", "get_inputs", "get_init_inputs")


@dataclass(frozen=True)
class Network:
    """A network and what it is called with; `make` is told whether to be tiny."""

    name: str
    make: Callable[[bool], tuple[nn.Module, tuple[Any, ...]]]


def made(description: dict[str, Any], folder: Path) -> tuple[nn.Module, tuple[Any, ...]]:
    """The network that a description in a folder is of, ready to infer, and its inputs.

    They are the same in every process.
    """
    name, dtype = description["name"], description["dtype"]
    if "file" in description:
        network = from_file(folder / description["file"], name, description["batch"])
    else:
        network = next(each for each in NETWORKS if each.name == name)
    torch.manual_seed(SEED)
    model, inputs = network.make(description["tiny"])
    generator = torch.Generator().manual_seed(SEED)
    for path, buffer in model.named_buffers():
        # What batch norms have seen is then no longer 0 and 1.
        if path.endswith("running_mean"):
            buffer.normal_(0, 0.1, generator=generator)
        elif path.endswith("running_var"):
            buffer.uniform_(0.5, 1.5, generator=generator)
    if dtype is not None:
        model, inputs = model.to(DTYPES[dtype]), _with_floats(inputs, DTYPES[dtype])
    return model.eval().requires_grad_(requires_grad=False), inputs


def _with_floats(inputs: Any, dtype: torch.dtype) -> Any:
    def converted(x: Any) -> Any:
        return x.to(dtype) if isinstance(x, Tensor) and x.is_floating_point() else x

    return pytree.tree_map(converted, inputs)


def chosen(parts: str, files: Sequence[Path]) -> list[Network]:
    """The networks with one of the parts in their names, of the catalogue or of model files."""
    patterns = [f"*{part}*" for part in parts.split(",")]
    networks = [from_file(file, file.stem) for file in files] if files else list(NETWORKS)
    return [each for each in networks if any(fnmatch(each.name, p) for p in patterns)]


def from_file(file: Path, name: str, batch: int | None = None) -> Network:
    """The network that a model file defines; it raises ValueError where that defines none.

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
        return conv.resnet((1, 1, 1, 1), 8, 0, 10), _image(2, 33)
    return conv.resnet((2, 2, 2, 2), 64, 0, 1000), _image(16, 224)


def _resnet50(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    if tiny:
        return conv.resnet((1, 2, 1, 1), 4, 4, 10), _image(1, 40)
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
        return conv.inverted_residuals(rows[:3], 0.2, 24, 10, squeeze=False), _image(1, 32)
    return conv.inverted_residuals(rows, 1, 1280, 1000, squeeze=False), _image(16, 224)


def _efficientnet(tiny: bool) -> tuple[nn.Module, tuple[Any, ...]]:
    rows = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3)]
    rows += [(6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]
    if tiny:
        return conv.inverted_residuals(rows[:3], 0.2, 24, 10, squeeze=True), _image(1, 32)
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


NETWORKS = (
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
    Network("llama", _llama),
    Network("t5", _t5),
    Network("whisper", _whisper),
    Network("mixture", _mixture),
    Network("lstm_cell", _gated(lstm=True)),
    Network("gru_cell", _gated(lstm=False)),
    Network("lstm", _layers(nn.LSTM, both=False)),
    Network("gru_both_ways", _layers(nn.GRU, both=True)),
    Network("mamba", _mamba),
)
