"""The weights of a loaded library: what they are, and other values for them."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import InputError
from .loader_abi import DlTensor, ProgramInfo
from .loader_array import CAPSULE
from .loader_checks import check_plain, passing

_METADATA = "__metadata__"
_api = ctypes.pythonapi


@dataclass(frozen=True)
class WeightInfo:
    """A weight: its element type as safetensors files call it, its sizes and bytes."""

    dtype: str
    sizes: tuple[int, ...]
    bytes: int


@dataclass(frozen=True)
class LibraryWeights:
    """All weights of a library, and the names of the files beside it that have them."""

    entries: Mapping[str, WeightInfo]
    files: tuple[str, ...]

    def file_beside(self, library: Path) -> Path | None:
        """Returns the file of a library that does not lie where it was built."""
        return library.absolute().parent / self.files[0] if len(self.files) == 1 else None


def weights_of(programs: Sequence[ProgramInfo]) -> LibraryWeights:
    """Returns what a library's programs say of their weights."""
    entries: dict[str, WeightInfo] = {}
    files: dict[str, None] = {}
    for program in programs:
        if not program.weights:
            continue
        weights = program.weights.contents
        header = json.loads(weights.header)
        for name, entry in header.items():
            if name != _METADATA:
                start, end = entry["data_offsets"]
                entries[name] = WeightInfo(entry["dtype"], tuple(entry["shape"]), end - start)
        if weights.file and not weights.embedded:
            files[weights.file.decode()] = None
    return LibraryWeights(entries, tuple(files))


def use_tensors(
    use: Callable[[Any, Any, int], int], tensors: Mapping[str, Any], library: str
) -> int:
    """Calls `hirc_use_weights` with tensors by name, through DLPack."""
    kept: list[Any] = []
    addresses: list[int] = []
    for name, tensor in tensors.items():
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(name).__name__
            raise InputError(f"weights= takes tensors by name (str), not by {kind}")
        where = f"weight '{name}' of {library}"
        if not hasattr(tensor, "__dlpack__"):
            raise InputError(f"{where}: {type(tensor).__name__} is no tensor")
        with passing(where):
            check_plain(tensor, where)
            kept.append(tensor.__dlpack__())
            addresses.append(_api.PyCapsule_GetPointer(kept[-1], CAPSULE))
    names = (ctypes.c_char_p * len(tensors))(*(name.encode() for name in tensors))
    return use(names, (ctypes.POINTER(DlTensor) * len(tensors))(
        *(ctypes.cast(address, ctypes.POINTER(DlTensor)) for address in addresses)
    ), len(tensors))  # fmt: skip
