"""`hirc --describe`: what an executable, library, object or bitcode file holds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from ..dialects.records import dataclass
from .bitcode_file import MAGICS
from .code import KERNELS
from .description import SECTION, read_description
from .errors import InputError, InternalError
from .executable import PTX, DeviceImage, read_linked_file
from .llvm_ir import LlvmModule
from .object_symbols import elf_sections
from .offload_binary import Image, ImageKind, unpack

_EMBEDDED = ".llvm.offloading"
_BUILD_ID = ".note.gnu.build-id"
_ELF, _RELOCATABLE = b"\x7fELF\x02\x01", 1
_KINDS = {ImageKind.CUBIN: "machine code", ImageKind.OBJECT: "machine code"}
_POINTER_BYTES = 8


@dataclass(frozen=True)
class Description:
    """A file: `kind` is executable, library, object, bitcode or LLVM IR.

    `units` are the entries that hirc wrote into it. `libraries` are those that it needs, `glibc` is
    the oldest version of GNU's C library.
    """

    file: str
    kind: str
    bytes: int
    units: Sequence[Mapping[str, Any]]
    images: Sequence[DeviceImage]
    cpu_kernels: int
    libraries: Sequence[str] = ()
    glibc: str = ""
    build_id: str = ""
    device_symbols: Sequence[str] = field(default=())

    def json(self) -> str:
        """Returns the description as JSON."""
        return json.dumps(asdict(self), indent=2)

    def text(self) -> str:
        """Returns the description for people."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.file}: {self.kind}, {_size(self.bytes)}"
        if self.libraries:
            at_least = f" (glibc {self.glibc} or newer)" if self.glibc else ""
            yield f"  needs {', '.join(self.libraries)}{at_least}"
        if self.build_id:
            yield f"  build id {self.build_id}"
        for image in self.images:
            compressed = ", compressed" if image.is_compressed else ""
            yield f"  {image.kind} for {image.arch}: {_size(image.bytes)}{compressed}"
        if self.cpu_kernels:
            yield f"  code for the CPU device: {_count(self.cpu_kernels, 'kernel')}"
        if not self.units:
            yield "  no description: it was made by another compiler, or by an older hirc"
            yield from _listed("kernels and variables", self.device_symbols)
        for unit in self.units:
            yield from _unit_lines(unit)


def _unit_lines(unit: Mapping[str, Any]) -> Iterator[str]:
    versions = ", ".join(f"{name} {version}" for name, version in unit["versions"].items())
    chips = ", ".join(unit["chips"])
    yield f"{unit['source']}: {' '.join(unit['options'])}{' for ' if chips else ''}{chips}"
    yield f"  by {versions}"
    for program in unit["programs"]:
        yield f"  program {program['name']}"
        for role in ("input", "output"):
            for name, kind in program[f"{role}s"].items():
                yield f"    {role} {name}: {kind}"
    for name, kind in unit["weights"].items():
        yield f"  weight {name}: {kind}"
    if "values" in unit:
        yield f"  values of weights: {unit['values']}"
    yield from _listed("kernels", unit["kernels"])


def _listed(what: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"  {what}: {', '.join(names)}"


def _size(size: int) -> str:
    return f"{size:,} bytes"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def describe(path: Path) -> Description:
    """Reads a file. Raises InputError for one that hirc does not write."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    if data[:4] in MAGICS or path.suffix == ".ll":
        kind = "LLVM IR" if path.suffix == ".ll" else "LLVM bitcode"
        return _described_object(path, kind, len(data), _compiled(path, data))
    if data[:6] != _ELF:
        raise InputError(
            f"{path} is no executable, library, object or bitcode file",
            hint="--describe takes what hirc makes",
        )
    if data[16] == _RELOCATABLE:
        return _described_object(path, "object", len(data), data)
    return _described_linked(path, data)


def _compiled(path: Path, data: bytes) -> bytes:
    """Returns an object file of bitcode or IR, for its sections. Raises InputError."""
    try:
        source = data.decode() if path.suffix == ".ll" else data
        return LlvmModule(source, None, name=path.name).object_code()
    except (RuntimeError, UnicodeDecodeError, InternalError) as error:
        raise InputError(f"{path} cannot be read as LLVM IR") from error


def _described_object(path: Path, kind: str, size: int, data: bytes) -> Description:
    sections = _sections(path, data)
    try:
        images = unpack(sections.get(_EMBEDDED, b""))
    except (ValueError, KeyError, IndexError) as error:
        raise InputError(f"the device code in {path} is of another form: {error}") from error
    return Description(
        file=str(path),
        kind=kind,
        bytes=size,
        units=_units(path, sections),
        images=[_device_image(image) for image in images],
        cpu_kernels=len(sections.get(KERNELS, b"")) // _POINTER_BYTES,
    )


def _described_linked(path: Path, data: bytes) -> Description:
    sections = _sections(path, data)
    linked = read_linked_file(path)
    return Description(
        file=str(path),
        kind="executable" if ".interp" in sections else "library",
        bytes=len(data),
        units=_units(path, sections),
        images=sorted(linked.images, key=lambda image: (image.kind == PTX, image.arch)),
        cpu_kernels=len(sections.get(KERNELS, b"")) // _POINTER_BYTES,
        libraries=linked.needed,
        glibc=linked.glibc,
        # A header, and "GNU" that it names.
        build_id=sections.get(_BUILD_ID, b"")[16:].hex(),
        device_symbols=linked.device_symbols,
    )


def _sections(path: Path, data: bytes) -> dict[str, bytes]:
    """Returns the contents of sections by name; those of one name follow one another."""
    found: dict[str, bytes] = {}
    try:
        for section in elf_sections(data):
            found[section.name] = found.get(section.name, b"") + section.content
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}") from error
    return found


def _units(path: Path, sections: Mapping[str, bytes]) -> list[dict[str, Any]]:
    try:
        return read_description(sections.get(SECTION, b""))
    except ValueError as error:
        raise InputError(f"the description in {path} is damaged: {error}") from error


def _device_image(image: Image) -> DeviceImage:
    kind = _KINDS.get(image.kind, image.kind.name.lower())
    return DeviceImage(image.arch, kind, len(image.data))
