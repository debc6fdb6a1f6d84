"""Descriptions of kernels and variables, as constants that the registrar finds by their section."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...dialects.records import dataclass
from ..ir_text import global_name, plain_name
from .debug_info import source_of
from .device_ir import DeviceModule, Function, Parameter, is_amd_kernel
from .llvm_text import shown_name, size_and_alignment
from .shared_memory import SharedLayout
from .slots import Slot
from .stops import Stop

STOP = "{ i32, i32, i32, i32, ptr, ptr, ptr, ptr, ptr }"
KERNEL = (
    "{ ptr, ptr, i32, i32, ptr, ptr, i32, i32, ptr, i32, i32, i32, i32, "
    "[3 x i32], [3 x i32], i32, i32, ptr, ptr, ptr }"
)
SLOT = "{ i32, i32, ptr }"
ARGUMENT = "{ i32, i32 }"
VARIABLE = "{ ptr, ptr, i64, i32, i32 }"
# The lanes of the widest wavefront.
_WARP = 64
WARP_STOPS, CHECKS_MEMORY, CHECKS_RACES, AMD, WIDE = 1, 2, 4, 8, 16  # of struct hirc_kernel
_KERNELS, _VARIABLES = "hirc_cpu_kernels", "hirc_cpu_variables"


@dataclass(frozen=True)
class KernelDescription:
    """What the engine must know of a kernel besides its attributes."""

    function: Function
    regions: Sequence[str]
    wide_regions: Sequence[str]
    stops: Sequence[Stop]
    slots_of: dict[int, list[Slot]]
    flags: int
    frame_bytes: int
    exchange_bytes: int
    shared: SharedLayout


class Tables:
    """Collects the constants of one module."""

    def __init__(self, module: DeviceModule) -> None:
        self._module = module
        self._lines: list[str] = []
        self._strings: dict[str, str] = {}
        self._used: list[str] = []
        self._constants: dict[str, str] = {}

    def text(self) -> str:
        """Everything, with the list that keeps the linker from dropping it."""
        used = ", ".join(f"ptr {name}" for name in self._used)
        kept = (
            [
                f"@llvm.used = appending global [{len(self._used)} x ptr] [{used}], "
                'section "llvm.metadata"'
            ]
            if self._used
            else []
        )
        return "\n".join([*self._lines, *kept]) + "\n"

    def string(self, text: str) -> str:
        """Returns the symbol of a C string."""
        if text not in self._strings:
            name = f"@hirc.string.{len(self._strings)}"
            size = len(text.encode("utf-8", "surrogateescape")) + 1
            literal = self._module.strings.hold_text(text + "\0")
            self._lines.append(
                f"{name} = private unnamed_addr constant [{size} x i8] c{literal}, align 1"
            )
            self._strings[text] = name
        return self._strings[text]

    def _array(
        self, name: str, element: str, values: Sequence[str], *, mutable: bool = False
    ) -> str:
        if not values:
            return "null"
        listed = ", ".join(f"{element} {value}" for value in values)
        kind = "internal global" if mutable else "private constant"
        symbol = global_name(f"hirc.{name}")
        self._lines.append(f"{symbol} = {kind} [{len(values)} x {element}] [{listed}], align 8")
        return symbol

    def kernel(self, description: KernelDescription) -> None:
        """Describes a kernel: struct hirc_kernel."""
        function = description.function
        name = plain_name(function.name)
        stops = [_zero_stop(), *(self._stop(name, stop, description) for stop in description.stops)]
        # The program itself puts the wide ones in their place where it can run them.
        regions = self._array(
            f"regions.{name}", "ptr", description.regions, mutable=bool(description.wide_regions)
        )
        wide = self._array(f"wide.{name}", "ptr", description.wide_regions)
        stop_array = self._array(f"stops.{name}", STOP, stops)
        arguments = [_argument(parameter) for parameter in function.parameters]
        fields = [
            f"ptr {self.string(name)}",
            f"ptr {self.string(source_of(self._module, function.subprogram))}",
            f"i32 {description.flags}",
            f"i32 {len(description.regions)}",
            f"ptr {regions}",
            f"ptr {stop_array}",
            f"i32 {len(arguments)}",
            f"i32 {description.shared.static_bytes}",
            f"ptr {self._array(f'arguments.{name}', ARGUMENT, arguments)}",
            f"i32 {description.frame_bytes}",
            f"i32 {description.exchange_bytes}",
            f"i32 {self._max_threads(function)}",
            f"i32 {self._number(function, 'nvvm.minctasm')}",
            f"[3 x i32] {_extent(self._required_block(function))}",
            f"[3 x i32] {_extent(self._numbers(function, 'nvvm.cluster_dim'))}",
            "i32 0",
            f"i32 {description.shared.align}",
            f"ptr {wide}",
            f"ptr {self._shared_variables(name, description)}",
            f"ptr {self.string(shown_name(function.name))}",
        ]
        self._entry(f"kernel.{name}", f"{KERNEL} {{ {', '.join(fields)} }}", _KERNELS)

    def _shared_variables(self, kernel: str, description: KernelDescription) -> str:
        """Returns the extents of shared variables, which checks of memory need."""
        if not description.flags & CHECKS_MEMORY:
            return "null"
        layout = description.shared
        entries = [
            f"{{ ptr {self.string(shown_name(item.name))}, i32 {layout.offsets[item.name]}, "
            f"i32 {item.bytes} }}"
            for item in layout.placed
        ]
        entries.append("zeroinitializer")
        return self._array(f"shared.{kernel}", "{ ptr, i32, i32 }", entries)

    def variable(self, name: str, size: int, *, constant: bool) -> None:
        """Describes a variable that the host may name: struct hirc_variable."""
        plain = plain_name(name)
        fields = f"ptr {self.string(plain)}, ptr {name}, i64 {size}, i32 {int(constant)}, i32 0"
        self._entry(f"variable.{plain}", f"{VARIABLE} {{ {fields} }}", _VARIABLES)

    def _entry(self, name: str, constant: str, section: str) -> None:
        described, entry = global_name(f"hirc.{name}"), global_name(f"hirc.entry.{name}")
        self._lines.append(f"{described} = private constant {constant}, align 8")
        self._lines.append(
            f'{entry} = internal constant ptr {described}, section "{section}", align 8'
        )
        self._used.append(entry)

    def _stop(self, kernel: str, stop: Stop, description: KernelDescription) -> str:
        slots = [
            f"{{ i32 {slot.offset}, i32 {slot.bytes}, ptr {self._lanes(slot)} }}"
            for slot in description.slots_of[stop.state]
        ]
        prefix = f"{kernel}.{stop.state}"
        slot_array = self._array(f"slots.{prefix}", SLOT, slots)
        parameters = [str(value) for value in stop.call.parameters]
        parameter_array = self._array(f"parameters.{prefix}", "i32", parameters)
        operands = len(stop.call.operands)
        performer = f"@{stop.call.performer}" if stop.call.performer else "null"
        return (
            f"{{ i32 {stop.call.kind}, i32 {operands}, i32 {len(slots) - operands}, "
            f"i32 {len(parameters)}, ptr {slot_array}, ptr {parameter_array}, ptr {performer}, "
            f"ptr {self.string(stop.call.operation)}, "
            f"ptr {self.string(source_of(self._module, stop.debug))} }}"
        )

    def _lanes(self, slot: Slot) -> str:
        """Returns a constant operand for each lane of a warp."""
        if not slot.constant:
            return "null"
        type_text, value = slot.type, slot.constant
        if type_text == "i1":
            type_text, value = "i8", str(int(value == "true"))
        key = f"{type_text} {value}"
        if key not in self._constants:
            name = f"@hirc.lanes.{len(self._constants)}"
            listed = ", ".join([key] * _WARP)
            self._lines.append(
                f"{name} = private constant [{_WARP} x {type_text}] [{listed}], align 32"
            )
            self._constants[key] = name
        return self._constants[key]

    def _numbers(self, function: Function, attribute: str) -> list[int]:
        text = self._module.attribute(function, attribute) or ""
        return [int(number) for number in re.findall(r"\d+", text)]

    def _number(self, function: Function, attribute: str) -> int:
        return next(iter(self._numbers(function, attribute)), 0)

    def _required_block(self, function: Function) -> list[int]:
        """Returns the size that every block has, or nothing."""
        if not is_amd_kernel(function.header):
            return self._numbers(function, "nvvm.reqntid")
        found = re.search(r"!reqd_work_group_size !(\d+)", function.trailer)
        text = self._module.metadata.get(int(found[1]), "") if found else ""
        return [int(number) for number in re.findall(r"i32 (\d+)", text)]

    def _max_threads(self, function: Function) -> int:
        product = 1
        numbers = self._numbers(function, "nvvm.maxntid")
        for number in numbers:
            product *= number
        return product if numbers else 0


def _extent(numbers: list[int]) -> str:
    if numbers:
        numbers = numbers + [1] * (3 - len(numbers))
    return "[" + ", ".join(f"i32 {number}" for number in (numbers or [0, 0, 0])) + "]"


def _zero_stop() -> str:
    return "zeroinitializer"


def _argument(parameter: Parameter) -> str:
    size, align = size_and_alignment(parameter.byval or parameter.type)
    return f"{{ i32 {size}, i32 {max(align, parameter.align)} }}"
