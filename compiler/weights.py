"""The values of a program's weights: where they come from, and where they go."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from ..dialects.records import dataclass
from ..pipelines.weights import DIGEST, Role, Weight, WeightLayout, lay_out
from .data_object import write_object
from .errors import InputError
from .host import Host
from .options import Emit, Options, WeightStorage
from .output import replacing
from .safetensors import Tensor, TensorFile, joined, listed, read_values, write_tensors

SUFFIX = ".safetensors"
# Up to here weights are embedded, where nothing else is asked for: the linked file is copied as a
# whole whenever it is moved.
EMBEDDED_AT_MOST = 64 << 20
# What may take the place of a signless integer, which is called signed.
_UNSIGNED = {"I64": "U64", "I32": "U32", "I16": "U16", "I8": "U8"}


@dataclass(frozen=True)
class Weights:
    """The layout of all weights of what is built, and their values in that order.

    `output` is the file for them beside the linked one, None where they go elsewhere.
    """

    layout: WeightLayout
    values: tuple[tuple[Weight, Tensor], ...] = ()
    output: Path | None = None

    def pieces(self) -> list[tuple[int, memoryview]]:
        """Returns the values with their offsets."""
        offsets = self.layout.offsets
        return [(offsets[weight.name], tensor.data) for weight, tensor in self.values]

    def write_object(self, path: Path, host: Host) -> None:
        """Writes the object with the values, where they are embedded."""
        pieces = self.pieces()
        # What follows the last one is read too.
        pieces.append((self.layout.bytes, memoryview(b"")))
        with open(path, "wb") as file:
            write_object(file, self.layout.data_symbol, pieces, host)

    def write_file(self) -> None:
        """Writes the file beside the linked one, where there is to be one."""
        if self.output is None:
            return
        names = {self.layout.offsets[weight.name]: weight.name for weight, _ in self.values}
        tied = {
            weight.name: name
            for weight in self.layout.weights
            if (name := names.get(self.layout.offsets[weight.name], weight.name)) != weight.name
        }
        tensors = {weight.name: tensor for weight, tensor in self.values}
        with replacing(self.output) as temporary, open(temporary, "wb") as file:
            write_tensors(file, tensors, {DIGEST: self.layout.digest, **tied})


def plan_weights(
    declared: Sequence[Weight],
    options: Options,
    output: str,
    known: Sequence[TensorFile] = (),
    *,
    in_place: bool = False,
) -> Weights | None:
    """Lays out the weights of all inputs, and compares them with their values.

    `output` is what is built. `known` are values that inputs bring along, which count where a file
    that the options name has none. With `in_place` no file is to be written where that has all, and
    a program reads it. None is given where there is no weight. Raises InputError.
    """
    source = options.weights_from
    valued = [weight for weight in declared if weight.role is not Role.ZEROS]
    if not valued:
        if source is not None:
            raise InputError(f"--weights-from={source}: the program has no weights")
        return Weights(lay_out(declared)) if declared else None
    if source is None and not known:
        if options.weights is WeightStorage.EMBED:
            raise InputError(
                f"--weights=embed needs the values of weight '{valued[0].name}'",
                hint="--weights-from=FILE.safetensors",
            )
        file = "" if output == "-" else file_beside(Path(output), options.emit).name
        return Weights(replace(lay_out(declared), file=file))
    given = [] if source is None else [read_values(source, known)]
    found = joined([*given, *known])
    chosen = {weight.name: find_value(weight, found) for weight in valued}
    # Tensors that the file says to be one are one.
    first: dict[str, str] = {}
    tied = {name: first.setdefault(own, name) for name, (own, _) in chosen.items()}
    layout = lay_out(declared, tied)
    own = [weight for weight in layout.weights if tied[weight.name] == weight.name]
    values = tuple((weight, chosen[weight.name][1]) for weight in own)
    if _is_embedded(options, layout):
        return Weights(replace(layout, digest=_digest(layout, values), is_embedded=True), values)
    has_all = bool(given) and all(given[0].find(each.name) is not None for each in layout.weights)
    if in_place and has_all:
        return Weights(layout, values)
    return _external(layout, values, given[0] if given else None, options, output, has_all=has_all)


def _external(
    layout: WeightLayout,
    values: tuple[tuple[Weight, Tensor], ...],
    given: TensorFile | None,
    options: Options,
    output: str,
    *,
    has_all: bool,
) -> Weights:
    """Weights in a file beside what is built, which is the given one where that is there."""
    if output == "-":
        raise InputError(
            "weights go to a file beside the output, and that is standard output", hint="-o FILE"
        )
    path = file_beside(Path(output), options.emit)
    if given is not None and path.exists() and os.path.samefile(path, given.path):
        if has_all:
            return Weights(replace(layout, file=path.name), values)
        missing = next(each for each in layout.weights if given.find(each.name) is None)
        raise InputError(
            f"the file beside the output, {path}, is the one with the weights, and has no tensor "
            f"'{missing.name}', whose value the model brings along",
            hint="-o FILE of another name or folder, or --weights=embed",
        )
    layout = replace(layout, digest=_digest(layout, values), file=path.name)
    return Weights(layout, values, path)


def _is_embedded(options: Options, layout: WeightLayout) -> bool:
    can = options.emit in (Emit.EXE, Emit.SHARED, Emit.OBJECT)
    if options.weights is WeightStorage.EMBED and not can:
        raise InputError(
            f"--weights=embed: --emit={options.emit} holds no weights",
            hint="--weights=external, or --emit=object",
        )
    if options.weights is WeightStorage.AUTO:
        return can and layout.bytes <= EMBEDDED_AT_MOST
    return options.weights is WeightStorage.EMBED


def file_beside(output: Path, emit: Emit) -> Path:
    """Returns the file for the weights of `output`: `libmodel.safetensors` of `libmodel.so`."""
    if emit.suffix and output.suffix == emit.suffix:
        return output.with_suffix(SUFFIX)
    return output.with_name(output.name + SUFFIX)


def find_value(weight: Weight, file: TensorFile) -> tuple[str, Tensor]:
    """Returns a weight's tensor, and the name that it has in the file. Raises InputError."""
    found = file.find(weight.name)
    wanted = Tensor(weight.dtype, weight.sizes, memoryview(b""))
    if found is None and not file.path.is_file():
        raise InputError(
            f"{file.path} has no values of weight '{weight.name}' ({wanted}), but of others",
            hint="--weights-from=FILE.safetensors, or weights_from= in Python, has the others",
        )
    if found is None:
        raise InputError(
            f"weights file {file.path} has no tensor '{weight.name}' ({wanted})",
            hint=f"it has {listed(list(file.tensors))}",
        )
    name, tensor = found
    is_type = tensor.dtype in (weight.dtype, _UNSIGNED.get(weight.dtype))
    if not is_type or tensor.sizes != weight.sizes:
        raise InputError(
            f"weights file {file.path}: tensor '{name}' is {tensor}, the program takes {wanted}"
        )
    if tensor.data.nbytes != weight.bytes:
        raise InputError(
            f"weights file {file.path}: tensor '{name}' has {tensor.data.nbytes} bytes, and its "
            f"sizes take {weight.bytes}"
        )
    return name, tensor


def _digest(layout: WeightLayout, values: Sequence[tuple[Weight, Tensor]]) -> str:
    """Returns what tells these weights from others: of their header, and of a checksum of each
    value.
    """
    digest = sha256(layout.header.encode())
    for _, tensor in values:
        digest.update(zlib.crc32(tensor.data).to_bytes(4, "little"))
    return digest.hexdigest()
