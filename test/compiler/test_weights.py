"""Weights on the CPU device: embedded, in a file beside, replaced, and what can be wrong."""

from __future__ import annotations

import ctypes
import re
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hirc
from hirc.compiler.errors import InputError
from hirc.compiler.loader import Library, load
from support.no_memory import without_memory
from support.program_command import build
from support.weights import BIAS, DENSE, VALUES, WEIGHT, write_values

_X = np.arange(8, dtype=np.float32).reshape(2, 4)
_Y = _X @ WEIGHT + BIAS
_OTHER = {"fc.weight": np.full((4, 3), 2, np.float32), "fc.bias": np.zeros(3, np.float32)}
_OTHER_Y = _X @ _OTHER["fc.weight"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with its weights inside, and one beside its file, `external.safetensors`."""
    folder = tmp_path_factory.mktemp("weights")
    given = f"--weights-from={write_values(folder / 'model.safetensors', VALUES)}"
    build(DENSE, folder / "embedded.so", "--emit=shared", given)
    build(DENSE, folder / "external.so", "--emit=shared", given, "--weights=external")
    return folder


@pytest.fixture
def external(folder: Path, tmp_path: Path) -> Path:
    """A copy of the library with its file beside it."""
    for suffix in (".so", ".safetensors"):
        shutil.copyfile(folder / f"external{suffix}", tmp_path / f"external{suffix}")
    return tmp_path / "external.so"


def test_embedded_weights_need_no_file(folder: Path, tmp_path: Path) -> None:
    shutil.copyfile(folder / "embedded.so", tmp_path / "alone.so")
    library = load(tmp_path / "alone.so")
    assert not (folder / "embedded.safetensors").exists()
    np.testing.assert_array_equal(library.main(_X), _Y)
    assert [value.name for value in library.main.inputs] == ["x"]
    assert library.weights["fc.weight"].sizes == (4, 3)
    library.unload_weights()
    np.testing.assert_array_equal(library.main(_X), _Y)


def test_a_weight_that_is_an_output_is_copied(folder: Path) -> None:
    library = load(folder / "embedded.so")
    first, second = library.weight(), library.weight()
    first[...] = 0
    np.testing.assert_array_equal(second, WEIGHT)
    np.testing.assert_array_equal(library.weight(), WEIGHT)


def test_the_file_beside_the_library_is_found(
    external: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    library = load(external)
    library.load_weights()
    external.with_suffix(".safetensors").unlink()
    np.testing.assert_array_equal(library.main(_X), _Y)


def test_other_weights_make_another_library(external: Path, tmp_path: Path) -> None:
    other = write_values(tmp_path / "own.safetensors", _OTHER)
    library, replaced = load(external), load(external, weights=other)
    np.testing.assert_array_equal(library.main(_X), _Y)
    np.testing.assert_array_equal(replaced.main(_X), _OTHER_Y)
    np.testing.assert_array_equal(load(external, weights=_OTHER).main(_X), _OTHER_Y)
    np.testing.assert_array_equal(load(external).main(_X), _Y)
    assert load(external, weights=other).loaded is replaced.loaded


def test_the_environment_names_a_file_or_its_folder(
    external: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = external.with_suffix(".safetensors")
    (tmp_path / "elsewhere").mkdir()
    moved = beside.rename(tmp_path / "elsewhere" / beside.name)
    library = load(external)
    for named in (moved, moved.parent):
        monkeypatch.setenv("HIRC_WEIGHTS", str(named))
        np.testing.assert_array_equal(library.main(_X), _Y)
        library.unload_weights()


def test_graphs_that_repeat_read_weights_that_were_loaded_anew(tmp_path: Path) -> None:
    given = f"--weights-from={write_values(tmp_path / 'model.safetensors', VALUES)}"
    words = ("--emit=shared", given, "--weights=external", "--graph=always")
    build(DENSE, tmp_path / "dense.so", *words)
    library, out = load(tmp_path / "dense.so"), np.empty_like(_Y)
    for turn in range(6):
        values, wanted = ((VALUES, _Y), (_OTHER, _OTHER_Y))[turn % 2]
        write_values(tmp_path / "dense.safetensors", values)
        for _ in range(6):
            library.main(_X, out=out)
            np.testing.assert_array_equal(out, wanted)
        library.unload_weights()
    counts = (ctypes.c_int64 * 5)()
    library.loaded.hirc_graph_counts(counts)
    assert counts[4] >= 12


def test_threads_share_the_weights(external: Path) -> None:
    library = load(external)
    results: list[np.ndarray] = []
    start = threading.Barrier(8)

    def call() -> None:
        start.wait()
        results.append(library.main(_X))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == len(threads)
    for result in results:
        np.testing.assert_array_equal(result, _Y)


_HEADER = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is cut off, or no safetensors file: it has 0 bytes"),
        (b"\x10\0\0\0\0\0\0\0{}", "is cut off, or no safetensors file: it has 10 bytes"),
        (b"\xff" * 8 + b"{}", "is cut off, or no safetensors file: it has 10 bytes"),
        (b"\2\0\0\0\0\0\0\0[]", "its header is no header of a safetensors file"),
        (b"\2\0\0\0\0\0\0\0{}", "has no tensor 'fc.bias' (F32 [3])"),
        (len(_HEADER).to_bytes(8, "little") + _HEADER, "has no tensor 'fc.bias' (F32 [3])"),
    ],
)
def test_a_damaged_file_is_told_of(external: Path, data: bytes, message: str) -> None:
    file = external.with_suffix(".safetensors")
    file.write_bytes(data)
    _fails(load(external), f"weights file {file}", message)


def test_a_file_that_is_cut_off(external: Path) -> None:
    file = external.with_suffix(".safetensors")
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    _fails(
        load(external),
        f"weights file {file} is cut off: tensor 'fc.bias' ends at byte {len(whole)}, the file has "
        f"{len(whole) - 1}",
    )
    file.write_bytes(whole)
    np.testing.assert_array_equal(load(external).main(_X), _Y)


def test_no_file(external: Path) -> None:
    file = external.with_suffix(".safetensors")
    file.unlink()
    _fails(load(external), f"weights file {file} cannot be read: No such file or directory")


def test_the_file_of_another_build(external: Path, folder: Path) -> None:
    file = external.with_suffix(".safetensors")
    given = write_values(file, _OTHER)
    build(
        DENSE, folder / "other.so", "--emit=shared", f"--weights-from={given}", "--weights=external"
    )
    shutil.copyfile(folder / "other.safetensors", file)
    _fails(load(external), f"weights file {file} belongs to another build")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"fc.bias": BIAS}, "has no tensor 'fc.weight' (F32 [4, 3])"),
        (
            {"fc.bias": BIAS, "fc.weight": WEIGHT.T},
            "tensor 'fc.weight' is F32 [3, 4], the program takes F32 [4, 3]",
        ),
        (
            {"fc.bias": BIAS.astype(np.float16), "fc.weight": WEIGHT},
            "tensor 'fc.bias' is F16 [3], the program takes F32 [3]",
        ),
        (
            {"fc.bias": BIAS.reshape(1, 3), "fc.weight": WEIGHT},
            "tensor 'fc.bias' is F32 [1, 3], the program takes F32 [3]",
        ),
    ],
)
def test_values_that_do_not_fit(
    external: Path, tmp_path: Path, values: dict[str, np.ndarray], message: str
) -> None:
    given = write_values(tmp_path / "wrong.safetensors", values)
    _fails(load(external, weights=given), f"weights file {given}", message)
    if "fc.weight" in values:
        packed = {name: np.ascontiguousarray(value) for name, value in values.items()}
        with pytest.raises(InputError, match=f"^{re.escape(f'weights: {message}')}$"):
            load(external, weights=packed)


def test_a_tensor_without_memory_is_no_weight(external: Path) -> None:
    nothing = {name: without_memory(*value.shape) for name, value in VALUES.items()}
    with pytest.raises(InputError, match=r"^weights: tensor '.*' has no memory"):
        load(external, weights=nothing)


def test_tensors_that_do_not_fit(external: Path) -> None:
    with pytest.raises(InputError, match=r"there is no tensor 'fc\.bias' among those given"):
        load(external, weights={"fc.weight": WEIGHT})
    with pytest.raises(InputError, match=r"tensor 'fc\.weight' is not packed, row by row"):
        load(external, weights={"fc.weight": np.asfortranarray(WEIGHT), "fc.bias": BIAS})
    with pytest.raises(InputError, match=r"weight 'fc.bias' of .*: list is no tensor"):
        load(external, weights={"fc.weight": WEIGHT, "fc.bias": [1, 2, 3]})


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        *(
            (wrong, "weights= takes a path (str or os.PathLike), or tensors by name, not ")
            for wrong in (b"w.safetensors", 3, True, False, [], 1.5)
        ),
        ("", "weights= is '', which names no file"),
        ("a\0b", r"weights= is 'a\x00b', which names no file"),
        ({1: WEIGHT}, "weights= takes tensors by name (str), not by int"),
    ],
)
def test_what_names_no_weights_is_refused(external: Path, weights: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        load(external, weights=weights)


def test_the_values_to_compile_for_are_a_path() -> None:
    for wrong in (b"w.safetensors", 3, ""):
        with pytest.raises(InputError, match=r"^weights_from= (takes a path|is '')"):
            hirc.compile(DENSE, target="cpu", weights_from=wrong)  # pyright: ignore[reportArgumentType]


def _fails(library: Library, *messages: str) -> None:
    """A call says what is wrong, each time; nothing is there for the next one."""
    for _ in range(2):
        with pytest.raises(InputError) as failure:
            library.main(_X)
        for message in messages:
            assert message in str(failure.value)
