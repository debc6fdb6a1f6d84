"""Convolutions of few channels by warpgroups on the CPU device against torch in float64."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from schedules.harness import Suite
from schedules.programs import Written
from schedules.test_contraction import Convolution
from torch.nn import functional

from hirc.pipelines.schedules import device
from hirc.pipelines.schedules.contraction.patch_kernel import PatchKernel
from hirc.pipelines.schedules.contraction.patches import (
    PatchConfiguration,
    patch_refusal,
    steps_of,
)
from hirc.pipelines.schedules.contraction.warpgroups import WarpgroupPlan

_ONES, _ZEROS, _TWO = (1, 1), (0, 0), (2, 2)


def _drawn(seed: int, element: str, common: int = 1) -> Convolution:
    """One of few channels, of any sizes, steps and dilations that patches are for.

    All of these are multiples of a `common` factor.
    """
    draw = random.Random(seed)
    rank = draw.choice([1, 2, 2, 2, 3])
    window = tuple(draw.choice([1, 2, 3, 4, 5]) for _ in range(rank))
    window = tuple(2 if rank == 3 and each > 3 else each for each in window)
    if all(each == 1 for each in window):
        window = (3, *window[1:])
    dilation = tuple(draw.choice([1, 1, 1, 2]) for _ in range(rank))
    stride = tuple(draw.choice([1, 1, 1, 2, 3]) for _ in range(rank))
    if rank == 3:
        stride = (*stride[:-1], 1)
    if stride[-1] > 1:
        dilation = (*dilation[:-1], 1)
    padding = tuple(draw.choice([0, 1, each // 2, each]) for each in window)
    stride, dilation = (tuple(common * each for each in numbers) for numbers in (stride, dilation))
    sizes = {1: (40, 180), 2: (9, 27), 3: (4, 11)}[rank]
    image = tuple(
        max(draw.randint(*sizes), by * (each - 1) + 1)
        for each, by in zip(window, dilation, strict=True)
    )
    channels = draw.choice([1, 3, 4, 8, 11, 16, 24])
    features = draw.choice([7, 24, 40])
    batch = draw.choice([1, 2])
    return Convolution(batch, channels, features, image, window, stride, padding, dilation, element)


def _grouped(name: str, element: str, groups: int, channels: int, features: int) -> Written:
    """A convolution in groups, of so many channels and features each, with padding."""
    x, k, y = (
        [2, groups * channels, 11, 16],
        [groups, features, channels, 3, 5],
        [2, groups, features, 11, 16],
    )
    kind = {
        "x": "x".join(map(str, x)),
        "p": f"2x{groups * channels}x13x20",
        "g": f"2x{groups}x{channels}x13x20",
        "k": "x".join(map(str, k)),
        "y": "x".join(map(str, y)),
    }
    types = {key: f"tensor<{sizes}x{element}>" for key, sizes in kind.items()}
    return Written(
        name,
        (f"{element}{x}", f"{element}{k}"),
        (f"{element}{y}",),
        lambda x, k: functional.conv2d(
            x, k.reshape(-1, channels, 3, 5), padding=(1, 2), groups=groups
        ).reshape(y),
        ({"one": 1},),
        magnitude=20.0,
        source=f"""
      func.func @NAME(%x: {types["x"]}, %k: {types["k"]}) -> {types["y"]} {{
        %zero = arith.constant 0.0 : {element}
        %p = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 1, 2] {{
        ^bb0(%i: index, %j: index, %l: index, %m: index):
          tensor.yield %zero : {element}
        }} : {types["x"]} to {types["p"]}
        %g = tensor.expand_shape %p [[0], [1, 2], [3], [4]]
            output_shape [2, {groups}, {channels}, 13, 20] : {types["p"]} into {types["g"]}
        %empty = tensor.empty() : {types["y"]}
        %zeros = linalg.fill ins(%zero : {element}) outs(%empty : {types["y"]}) -> {types["y"]}
        %y = linalg.conv_2d_ngchw_gfchw ins(%g, %k : {types["g"]}, {types["k"]})
            outs(%zeros : {types["y"]}) -> {types["y"]}
        return %y : {types["y"]}
      }}""",
    )


def _padded_along_channels(name: str, channels: int, low: int, high: int) -> Written:
    """A convolution of channels with so many zeros before and behind them."""
    all_ = channels + low + high
    x, k, y = f"1x{channels}x12x16", f"24x{all_}x3x3", "1x24x12x16"
    types = {"x": x, "k": k, "y": y, "p": f"1x{all_}x14x18"}
    types = {key: f"tensor<{sizes}xbf16>" for key, sizes in types.items()}
    return Written(
        name,
        (f"bf16[1, {channels}, 12, 16]", f"bf16[24, {all_}, 3, 3]"),
        ("bf16[1, 24, 12, 16]",),
        lambda x, k: functional.conv2d(functional.pad(x, (1, 1, 1, 1, low, high)), k),
        ({"one": 1},),
        magnitude=20.0,
        source=f"""
      func.func @NAME(%x: {types["x"]}, %k: {types["k"]}) -> {types["y"]} {{
        %zero = arith.constant 0.0 : bf16
        %p = tensor.pad %x low[0, {low}, 1, 1] high[0, {high}, 1, 1] {{
        ^bb0(%i: index, %j: index, %l: index, %m: index):
          tensor.yield %zero : bf16
        }} : {types["x"]} to {types["p"]}
        %empty = tensor.empty() : {types["y"]}
        %zeros = linalg.fill ins(%zero : bf16) outs(%empty : {types["y"]}) -> {types["y"]}
        %y = linalg.conv_2d_nchw_fchw ins(%p, %k : {types["p"]}, {types["k"]})
            outs(%zeros : {types["y"]}) -> {types["y"]}
        return %y : {types["y"]}
      }}""",
    )


def _channels_last(name: str, channels: int, step: tuple[int, int], pad: int) -> Written:
    """A convolution of an image that the program transposes: its channels come last before."""
    size, window = (13, 29), (1, 5)
    result = [(size[0] - window[0]) // step[0] + 1, (size[1] + 2 * pad - window[1]) // step[1] + 1]
    types = {
        "l": f"2x{size[0]}x{size[1]}x{channels}",
        "x": f"2x{channels}x{size[0]}x{size[1]}",
        "p": f"2x{channels}x{size[0]}x{size[1] + 2 * pad}",
        "k": f"24x{channels}x{window[0]}x{window[1]}",
        "y": f"2x24x{result[0]}x{result[1]}",
    }
    types = {key: f"tensor<{sizes}xbf16>" for key, sizes in types.items()}
    return Written(
        name,
        (f"bf16[2, {size[0]}, {size[1]}, {channels}]", f"bf16[24, {channels}, 1, 5]"),
        (f"bf16[2, 24, {result[0]}, {result[1]}]",),
        lambda x, k: functional.conv2d(x.permute(0, 3, 1, 2), k, stride=step, padding=(0, pad)),
        ({"one": 1},),
        magnitude=20.0,
        source=f"""
      func.func @NAME(%l: {types["l"]}, %k: {types["k"]}) -> {types["y"]} {{
        %zero = arith.constant 0.0 : bf16
        %e = tensor.empty() : {types["x"]}
        %x = linalg.transpose ins(%l : {types["l"]}) outs(%e : {types["x"]})
          permutation = [0, 3, 1, 2]
        %p = tensor.pad %x low[0, 0, 0, {pad}] high[0, 0, 0, {pad}] {{
        ^bb0(%i: index, %j: index, %m: index, %n: index):
          tensor.yield %zero : bf16
        }} : {types["x"]} to {types["p"]}
        %empty = tensor.empty() : {types["y"]}
        %zeros = linalg.fill ins(%zero : bf16) outs(%empty : {types["y"]}) -> {types["y"]}
        %y = linalg.conv_2d_nchw_fchw {{strides = dense<[{step[0]}, {step[1]}]> : tensor<2xi64>}}
            ins(%p, %k : {types["p"]}, {types["k"]})
            outs(%zeros : {types["y"]}) -> {types["y"]}
        return %y : {types["y"]}
      }}""",
    )


_PROGRAMS = (
    Convolution(1, 16, 40, (19, 21), (7, 3), _ONES, (3, 1), _ONES, "f16").program("patch_16"),
    # Rows of results that are multiples of eight.
    Convolution(2, 16, 40, (11, 24), (7, 3), _ONES, (3, 1), _ONES, "f16").program("patch_turned"),
    Convolution(1, 8, 72, (8, 40), (3, 3), _ONES, _ONES, _ONES, "bf16").program("patch_turned_72"),
    # An odd number of chunks.
    Convolution(2, 8, 24, (9, 17), (3, 3), _ONES, _ONES, _ONES, "bf16").program("patch_odd"),
    # Steps; and the channels of a picture.
    Convolution(1, 3, 40, (21, 31), (7, 7), _TWO, (3, 3), _ONES, "bf16").program("patch_picture"),
    Convolution(1, 8, 16, (23, 26), (4, 4), (4, 4), _ZEROS, _ONES, "bf16").program("patch_step_4"),
    Convolution(1, 16, 33, (150,), (5,), (1,), (2,), (1,), "bf16").program("patch_row"),
    Convolution(1, 16, 24, (9, 10, 11), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1), "f16").program(
        "patch_deep"
    ),
    # Six dims: images and chunks of channels are one. Padding along them is none of pixels.
    Convolution(2, 16, 24, (5, 6, 19), (3, 2, 3), (1, 2, 2), (1, 0, 1), (1, 1, 1), "f16").program(
        "patch_deep_steps"
    ),
    Convolution(2, 11, 9, (5, 8, 13), (2, 3, 4), (1, 1, 3), (0, 2, 2), (2, 1, 1), "bf16").program(
        "patch_deep_odd"
    ),
    # No padding, no multiple of anything, and a window of places far apart.
    Convolution(1, 24, 40, (20, 19), (3, 3), _ONES, _ZEROS, _TWO, "f16").program("patch_dilated"),
    # More columns than a tile has.
    Convolution(1, 8, 300, (9, 10), (3, 2), _ONES, _ONES, _ONES, "bf16").program("patch_columns"),
    # One row of results.
    Convolution(2, 8, 24, (3, 90), (3, 3), _ONES, (0, 1), _ONES, "bf16").program("patch_line"),
    _grouped("patch_groups", "bf16", 2, 16, 24),
    _grouped("patch_groups_odd", "f16", 3, 5, 9),
    # Of one chunk and of two, of which the first channels are zeros.
    _padded_along_channels("patch_before_channels", 3, 1, 2),
    _padded_along_channels("patch_around_channels", 7, 2, 3),
    # Read from before the transposition, every row or every third one.
    _channels_last("patch_last", 16, (1, 3), 2),
    _channels_last("patch_last_thin", 21, (3, 3), 0),
    _channels_last("patch_last_rows", 8, (2, 1), 1),
    *(_drawn(seed, "bf16").program(f"patch_drawn_{seed}") for seed in range(12)),
    # Steps and dilations with a common factor, along some dims and along all.
    Convolution(1, 16, 40, (20, 23), (3, 3), _TWO, _TWO, _TWO, "bf16").program("patch_common"),
    Convolution(2, 11, 24, (21, 23), (3, 2), (4, 3), (3, 1), (2, 3), "f16").program("patch_apart"),
    Convolution(1, 8, 24, (15, 40), (1, 3), (3, 1), _ONES, _ONES, "bf16").program("patch_thin"),
    *(
        _drawn(seed, "bf16", common).program(f"patch_drawn_{common}_{seed}")
        for common, seed in ((2, 20), (2, 21), (2, 22), (3, 23), (3, 24), (4, 25))
    ),
)
SUITE = Suite(_PROGRAMS)
ROUNDED = Suite(
    [
        replace(program, tolerance=250.0)
        for program in (
            Convolution(1, 8, 40, (12, 13), (5, 3), _ONES, (2, 1), _ONES).program("patch_f32"),
            Convolution(1, 3, 24, (21, 22), (7, 7), _TWO, (3, 3), _ONES).program("patch_f32_step"),
            *(_drawn(seed, "f32").program(f"patch_f32_drawn_{seed}") for seed in range(4)),
        )
    ],
    flags=("-O0", "--float32-products=tf32"),
)
_SILENT = (
    *(
        "patch_common",
        "patch_deep_steps",
        "patch_odd",
        "patch_picture",
        "patch_row",
        "patch_columns",
    ),
    "patch_f32_step",
)


def _lay_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets other ways take long by the model."""
    channels = "hirc.pipelines.contractions.channels"
    monkeypatch.setattr(f"{channels}.SINGLE", 1.0)
    monkeypatch.setattr(f"{channels}._ROW", 1.0)
    monkeypatch.setattr(f"{channels}._ORDINARY", {})


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[PatchKernel]:
    """Returns a list that has the kernels of patches that are made from now on."""
    made: list[PatchKernel] = []
    emit = PatchKernel.emit

    def counted(kernel: PatchKernel) -> None:
        made.append(kernel)
        emit(kernel)

    monkeypatch.setattr(PatchKernel, "emit", counted)
    return made


# Of one multiprocessor, so that blocks have many tiles.
_TILES = {
    "kept": PatchConfiguration(64, 64, 0, 3, keeps=True),
    "kept_long": PatchConfiguration(128, 64, 0, 2, patches=1, keeps=True),
    "kept_alone": PatchConfiguration(64, 64, 0, 1, resident=2, patches=3, keeps=True),
    "shared": PatchConfiguration(128, 64, 3, 2, resident=2),
    "large": PatchConfiguration(256, 32, 2, 2, group=3, patches=1),
    "many": PatchConfiguration(192, 32, 2, 3),
}
_CONVOLUTIONS = {
    "16": Convolution(3, 16, 40, (19, 24), (7, 3), _ONES, (3, 1), _ONES, "f16"),
    "odd": Convolution(2, 8, 24, (33, 17), (3, 3), _ONES, _ONES, _ONES, "bf16"),
    "picture": Convolution(2, 3, 40, (31, 43), (7, 7), _TWO, (3, 3), _ONES, "bf16"),
    "row": Convolution(3, 16, 32, (400,), (5,), (1,), (2,), (1,), "bf16"),
}


@pytest.mark.parametrize("tile", _TILES)
def test_tiles(tile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks take one tile after another; each of the kinds of tiles there are."""
    suite = Suite([each.program(f"{tile}_{name}") for name, each in _CONVOLUTIONS.items()])
    kept = _TILES[tile]

    def timed(plan: WarpgroupPlan, chip: device.Device) -> tuple[float, PatchConfiguration]:
        made = replace(kept, stages=steps_of(plan)) if kept.keeps else kept
        assert patch_refusal(plan, chip, made) is None
        return 0.0, made

    _lay_in_chunks(monkeypatch)
    monkeypatch.setattr("hirc.pipelines.schedules.contraction.schedule.timed_patches", timed)
    one = replace(device._DEVICES[90], multiprocessors=1)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setitem(device._DEVICES, 90, one)  # pyright: ignore[reportPrivateUsage]
    made = _counted(monkeypatch)
    for name in suite.names:
        suite.check(name)
    assert len(made) == len(suite.names)


@pytest.mark.parametrize("suite", [SUITE, ROUNDED], ids=["of_16_bits", "rounded"])
def test_patches(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small images take no less time so, but by the model."""
    _lay_in_chunks(monkeypatch)
    schedule = "hirc.pipelines.schedules.contraction.schedule"
    monkeypatch.setattr(f"{schedule}.ContractionChooser.cycles", 1e30)
    made = _counted(monkeypatch)
    for name in suite.names:
        suite.check(name)
    assert len(made) == len(suite.names)
    suite.check_silence([name for name in suite.names if name in _SILENT])
