"""Safetensors files: reading their headers, and writing whole files.

A file is the header's length in eight bytes, the header, JSON, and the tensors' data without gaps.
Format: https://github.com/huggingface/safetensors, section "Format".
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any, BinaryIO

from ..dialects.records import dataclass
from .errors import InputError

_LENGTH_BYTES = 8
_METADATA = "__metadata__"
# Data begin on a page, so that a mapped file can be used where it is.
_PAGE = 4096


@dataclass(frozen=True)
class Tensor:
    """A tensor: its element type as the format calls it, its sizes, and its bytes."""

    dtype: str
    sizes: tuple[int, ...]
    data: memoryview

    def __str__(self) -> str:
        return f"{self.dtype} [{', '.join(map(str, self.sizes))}]"


@dataclass(frozen=True)
class TensorFile:
    """The tensors and the metadata of a file, or of the files that an index names.

    `parameters` are those that a file in its place has to have too.
    """

    path: Path
    tensors: Mapping[str, Tensor]
    metadata: Mapping[str, str]
    parameters: frozenset[str] = frozenset()

    def find(self, name: str) -> tuple[str, Tensor] | None:
        """Returns a tensor and its name in the file.

        That is another one's where the metadata give that for `name`, as they do for tensors that
        share memory.
        """
        own = name if name in self.tensors else self.metadata.get(name, name)
        found = self.tensors.get(own)
        return None if found is None else (own, found)


def joined(files: Sequence[TensorFile]) -> TensorFile:
    """Returns the tensors of several files, by the name of the first; what is in two is the
    first's.

    A name that is another one's in any of them is that where it has no tensor itself.
    """
    first, *others = files
    if not others:
        return first
    tensors: dict[str, Tensor] = {}
    metadata: dict[str, str] = {}
    for file in reversed(files):
        tensors.update(file.tensors)
        metadata.update(file.metadata)
    for file in others:
        for name, other in file.metadata.items():
            # A file may have either of two names that are one.
            if name in first.tensors and other not in first.tensors:
                tensors.pop(other, None)
                metadata[other] = name
    return TensorFile(first.path, tensors, metadata)


def read_tensors(path: Path) -> TensorFile:
    """Maps a safetensors file, or all that an index (`.json`) of several names.

    Raises InputError for what is no such file, or is cut off.
    """
    return _read_index(path) if path.suffix == ".json" else _read_file(path)


def read_values(source: Path, known: Sequence[TensorFile]) -> TensorFile:
    """Reads the file with the values of weights. Raises InputError.

    It has all parameters of what is `known`; a model's other tensors may lack. Of tied ones it has
    one.
    """
    file = read_tensors(source)
    for model in known:
        tied: dict[str, list[str]] = {}
        for name, own in model.metadata.items():
            tied.setdefault(own, []).append(name)
        missing = [
            name
            for name in sorted(model.parameters & model.tensors.keys())
            if not any(file.find(each) for each in (name, *tied.get(name, ())))
        ]
        if not missing:
            continue
        raise InputError(
            f"weights file {file.path} lacks parameters of the model: {listed(missing)}",
            hint=_prefix_hint(missing, file) or f"it has {listed(list(file.tensors))}",
        )
    return file


def _prefix_hint(missing: Sequence[str], file: TensorFile) -> str | None:
    """Returns how names of a file differ from those that it lacks, where that is a prefix."""
    for name in missing:
        alike = next((each for each in file.tensors if each.endswith(f".{name}")), None)
        if alike is not None:
            return (
                f"it has '{alike}': its names have to be those of the model's state_dict, without "
                f"'{alike.removesuffix(name)}'"
            )
    for name in missing:
        alike = next((each for each in file.tensors if each and name.endswith(f".{each}")), None)
        if alike is not None:
            return (
                f"it has '{alike}': its names have to be those of the model's state_dict, with "
                f"'{name.removesuffix(alike)}'"
            )
    return None


def listed(names: Sequence[str]) -> str:
    """Returns the first names as text, and how many more there are."""
    most = 6
    some = ", ".join(f"'{name}'" for name in names[:most]) or "none"
    return some + (f" and {len(names) - most} more" if len(names) > most else "")


def _read_file(path: Path) -> TensorFile:
    try:
        with open(path, "rb") as file:
            size = path.stat().st_size
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except OSError as error:
        raise InputError(f"cannot read weights file {path}: {error.strerror}") from error
    whole = memoryview(mapped)
    length = int.from_bytes(whole[:_LENGTH_BYTES], "little")
    if size < _LENGTH_BYTES or length > size - _LENGTH_BYTES:
        raise InputError(
            f"weights file {path} is cut off, or no safetensors file: it has {size} bytes"
        )
    data = whole[_LENGTH_BYTES + length :]
    try:
        entries: dict[str, Any] = json.loads(bytes(whole[_LENGTH_BYTES : _LENGTH_BYTES + length]))
        metadata = {str(key): str(value) for key, value in entries.pop(_METADATA, {}).items()}
        tensors = {name: _tensor(entry, data) for name, entry in entries.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f"weights file {path}: its header is no header of a safetensors file"
        ) from error
    for name, tensor in tensors.items():
        start, end = entries[name]["data_offsets"]
        if tensor.data.nbytes != end - start:
            raise InputError(
                f"weights file {path} is cut off: tensor '{name}' ends at byte {end} of the data, "
                f"which have {data.nbytes}"
            )
    return TensorFile(path, tensors, metadata)


def _tensor(entry: Any, data: memoryview) -> Tensor:
    start, end = map(index, entry["data_offsets"])
    sizes = tuple(map(index, entry["shape"]))
    if not 0 <= start <= end or min(sizes, default=0) < 0:
        raise ValueError(entry)
    return Tensor(str(entry["dtype"]), sizes, data[start:end])


def _read_index(path: Path) -> TensorFile:
    """Returns the files of a checkpoint in several, beside the index."""
    try:
        places: dict[str, str] = json.loads(path.read_text())["weight_map"]
        names = sorted(set(places.values()))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path} is no index of safetensors files", hint='it has a "weight_map", by name'
        ) from error
    files = {name: _read_file(path.parent / name) for name in names}
    tensors: dict[str, Tensor] = {}
    for name, file in places.items():
        if name not in files[file].tensors:
            raise InputError(f"weights file {files[file].path} has no tensor '{name}' ({path})")
        tensors[name] = files[file].tensors[name]
    metadata = {key: value for file in files.values() for key, value in file.metadata.items()}
    return TensorFile(path, tensors, metadata)


def write_tensors(
    output: BinaryIO, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]
) -> None:
    """Writes a safetensors file, the data in the order of `tensors`, from a page's start on."""
    entries: dict[str, Any] = {_METADATA: dict(metadata)} if metadata else {}
    end = 0
    for name, tensor in tensors.items():
        start, end = end, end + tensor.data.nbytes
        entries[name] = {
            "dtype": tensor.dtype,
            "shape": list(tensor.sizes),
            "data_offsets": [start, end],
        }
    header = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    header += b" " * (-(_LENGTH_BYTES + len(header)) % _PAGE)
    output.write(len(header).to_bytes(_LENGTH_BYTES, "little") + header)
    for tensor in tensors.values():
        output.write(tensor.data)
