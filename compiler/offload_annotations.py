"""Offload entries and embedded device code as LLVM IR text, in the layout a clang version reads.

The one place that knows the layouts (docs/offload-abi.md). clang's linker wrapper takes the
embedded object out of its section, and registers every entry between the section's bounds when
the program starts. A wrong layout registers nothing and says nothing.
"""

from collections.abc import Sequence

from ..dialects.offload import EntryKind
from ..dialects.records import dataclass
from .errors import UnsupportedError
from .offload_binary import CUDA_KIND
from .platform_table import CUDA, HIP, Platform

# Kinds are bits from this clang on, and HIP is another number.
_FIRST_WITH_BITS = 21
_FLAG_CONSTANT = 16
_OLDEST_CONSUMER, _NEWEST_CONSUMER = 16, 23
# Metadata numbers no translated module reaches.
_FIRST_METADATA = 1_000_000_000


@dataclass(frozen=True)
class Entry:
    """A device symbol, and the host symbol whose address stands for it."""

    device_name: str
    host: str
    kind: EntryKind
    size: int

    @property
    def flags(self) -> int:
        return _FLAG_CONSTANT if self.kind == EntryKind.CONSTANT else 0


@dataclass(frozen=True)
class Layout:
    """How one range of clang versions spells an entry of CUDA's or HIP's."""

    struct: str
    section: str
    align: int
    name_prefix: str
    name_section: str
    listed: bool
    kind: int

    def fields(self, entry: Entry, name: str) -> str:
        if self.struct == _NEW_STRUCT:
            return (
                f"i64 0, i16 1, i16 {self.kind}, i32 {entry.flags}, ptr @{entry.host}, "
                f"ptr {name}, i64 {entry.size}, i64 0, ptr null"
            )
        return f"ptr @{entry.host}, ptr {name}, i64 {entry.size}, i32 {entry.flags}, i32 0"


_OLD_STRUCT = "{ ptr, ptr, i64, i32, i32 }"
_NEW_STRUCT = "{ i64, i16, i16, i32, ptr, ptr, i64, i64, ptr }"


def offload_kind(platform: Platform, consumer: int) -> int:
    """Returns the number that clang `consumer` has for what registers a platform's code."""
    hip = 4 if consumer >= _FIRST_WITH_BITS else 3
    return hip if platform is HIP else CUDA_KIND


def layout_for(consumer: int, platform: Platform = CUDA) -> Layout:
    """Returns the layout clang `consumer` registers. Raises UnsupportedError for one not known."""
    if not _OLDEST_CONSUMER <= consumer <= _NEWEST_CONSUMER:
        raise UnsupportedError(
            f"the offload entry layout of clang {consumer} is not known",
            hint=f"link with clang {_OLDEST_CONSUMER} to {_NEWEST_CONSUMER}",
        )
    kind = offload_kind(platform, consumer)
    own_section = "hip_offloading_entries" if platform is HIP else "cuda_offloading_entries"
    if consumer < 20:
        prefix = ".omp_offloading.entry" if consumer < 19 else ".offloading.entry"
        return Layout(_OLD_STRUCT, own_section, 1, prefix, "", False, kind)
    section, align = (own_section, 1) if consumer == 20 else _SHARED_SECTION
    names = ".llvm.rodata.offloading"
    return Layout(_NEW_STRUCT, section, align, ".offloading.entry", names, True, kind)


_SHARED_SECTION = ("llvm_offload_entries", 8)


def annotation_text(
    entries: Sequence[Entry],
    embedded: bytes,
    consumer: int,
    platforms: Sequence[Platform] = (CUDA,),
) -> str:
    """LLVM IR for `entries` and the packed images `embedded`, to follow a host module's text.

    Each entry is one of every platform's runtime.
    """
    layouts = [layout_for(consumer, platform) for platform in platforms]
    layout = layouts[0]
    lines: list[str] = []
    listed: list[str] = []
    for index, entry in enumerate(entries):
        name = f"@.offloading.entry_name.{index}"
        text = entry.device_name.encode() + b"\0"
        section = f', section "{layout.name_section}"' if layout.name_section else ""
        lines.append(
            f"{name} = internal unnamed_addr constant [{len(text)} x i8] "
            f"{_literal(text)}{section}, align 1"
        )
        for place, each in enumerate(layouts):
            again = f".{each.kind}" if place else ""
            lines.append(
                f'@"{each.name_prefix}.{entry.device_name}{again}" = weak constant {each.struct} '
                f'{{ {each.fields(entry, name)} }}, section "{each.section}", '
                f"align {each.align}"
            )
        listed.append(name)
    number = _FIRST_METADATA
    if layout.listed and listed:
        numbers = range(number, number + len(listed))
        lines.append(f"!llvm.offloading.symbols = !{{{', '.join(f'!{item}' for item in numbers)}}}")
        lines += [f"!{item} = !{{ptr {name}}}" for item, name in zip(numbers, listed, strict=True)]
        number += len(listed)
    if embedded:
        lines += _embedded_object(embedded, number)
    return "\n".join(lines) + "\n"


def section_text(data: bytes, section: str) -> str:
    """LLVM IR for bytes in a section of their own, which linkers keep."""
    name = f'@"{section}"'
    return (
        f"{name} = private constant [{len(data)} x i8] {_literal(data)}, "
        f'section "{section}", align 1\n'
        f'@llvm.used = appending global [1 x ptr] [ptr {name}], section "llvm.metadata"\n'
    )


def _embedded_object(data: bytes, number: int) -> list[str]:
    """Returns the packed images, in the section clang's linker wrapper reads and then drops."""
    return [
        f"@llvm.embedded.object = private constant [{len(data)} x i8] {_literal(data)}, "
        f'section ".llvm.offloading", align 8, !exclude !{number}',
        "@llvm.compiler.used = appending global [1 x ptr] [ptr @llvm.embedded.object], "
        'section "llvm.metadata"',
        f"!llvm.embedded.objects = !{{!{number + 1}}}",
        f"!{number} = !{{}}",
        f'!{number + 1} = !{{ptr @llvm.embedded.object, !".llvm.offloading"}}',
    ]


def _literal(data: bytes) -> str:
    """Returns an LLVM string constant; bytes that are not plain characters are escaped."""
    return 'c"' + "".join(_ESCAPES[byte] for byte in data) + '"'


_ESCAPES = [
    chr(byte) if 32 <= byte < 127 and byte not in (34, 92) else f"\\{byte:02X}"
    for byte in range(256)
]
