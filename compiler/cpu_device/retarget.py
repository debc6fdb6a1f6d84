"""Device code of a GPU, made into code of the host: the whole way for one module.

The module is NVVM IR as any NVIDIA GPU's: optimised, with libdevice inside. What comes out is IR
text for the host's LLVM, with one function for each region of each kernel and a table that
describes them (runtime/device_abi.h).
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from ...dialects.records import dataclass
from ..errors import UnsupportedError
from ..ir_text import IrText, global_name, plain_name
from .address_spaces import without_address_spaces
from .constants import expand_constants
from .debug_info import RegionLocations, for_host
from .device_ir import (
    Block,
    DeviceModule,
    Function,
    Instruction,
    is_amd_kernel,
    locals_of,
    parse_module,
)
from .equal_regions import EqualRegions
from .instrument import DECLARATIONS, SHARED_GAP, instrument
from .kernel_stack import copy_by_value, hoist_allocas, refuse_dynamic_allocas
from .kernel_table import (
    AMD,
    CHECKS_MEMORY,
    CHECKS_RACES,
    WARP_STOPS,
    WIDE,
    KernelDescription,
    Tables,
)
from .llvm_text import (
    size_and_alignment,
    type_end,
)
from .lower_calls import CallLowering
from .metadata import DEFINITIONS, EMPTY
from .numerics import Flushing, define_conversions
from .operations import StopKind
from .prologue import Prologue
from .region_functions import RegionCode
from .regions import SplitKernel, split_kernel
from .shared_addresses import shared_addresses
from .shared_memory import SharedLayout, layout_for, shared_variables, used_by_functions
from .signatures import passes_wide_vectors, signature
from .stops import split_at_stops
from .yields import yield_after_mbarrier_inits, yield_in_spin_loops

_CHECK_FLAGS = {"memory": CHECKS_MEMORY, "race": CHECKS_RACES}
_METADATA = re.compile(r", !([\w.]+) !(\d+)")
_NARROW = 32
_NARROW_INSERT = re.compile(r"= insertelement <\d+ x i(?:8|16)> ")
_NARROW_SHUFFLE = re.compile(r"= shufflevector <\d+ x (?:i8|i16|half|bfloat)> ")
_NARROW_BITS = re.compile(r"= (?:and|or|xor|shl|lshr|ashr) (?:[a-z]+ )*i(?:8|16) [^,]+, -?\d+")
_BLOCK_STOPS = (StopKind.BARRIER, StopKind.BARRIER_REDUCE)


@dataclass(frozen=True)
class RetargetOptions:
    """`debug` keeps the lines of the source.

    A region of more than `most_optimised` instructions is left as it is (0: none is).
    `wide_cpu` names a processor with wider vectors, which kernels are made for a second time; empty
    for none. The program takes one or the other when it starts; with `only_wide` there is no other.
    `checks` are the kinds of checks that are built in, of CHECKS in compiler/options.py.
    `warp_lanes` are those of a warp, or an AMD chip's wavefront.
    """

    debug: bool = False
    wide_cpu: str = ""
    only_wide: bool = False
    most_optimised: int = 0
    checks: frozenset[str] = frozenset()
    warp_lanes: int = 32


def retarget(text: IrText, named_by_host: Container[str], options: RetargetOptions) -> str:
    """IR for the host that does what the NVVM IR `text` does.

    `named_by_host` are kernels and variables that the host knows by name. Raises UnsupportedError
    for what the host cannot do, by its name and place in the source.
    """
    module = parse_module(text)
    instrument(module, options.checks)
    return _Retarget(module, named_by_host, options).run()


class _Retarget:
    def __init__(
        self, module: DeviceModule, named_by_host: Container[str], options: RetargetOptions
    ) -> None:
        self.module = module
        self.named_by_host = named_by_host
        self.options = options
        self.shared = shared_variables(module)
        self.shared_by_functions = used_by_functions(module, self.shared)
        self.tables = Tables(module)
        self.functions: list[str] = []
        self.regions = EqualRegions(self._finished)
        self.calls = CallLowering(module)
        self.flushing = Flushing(module)
        self.wide_cpu = "" if passes_wide_vectors(module) else options.wide_cpu

    def run(self) -> str:
        if self.module.assembly:
            raise UnsupportedError(
                "PTX at module level cannot run on the CPU device", stage="cpu-device"
            )
        common = self._layout(None)
        for function in self.module.functions.values():
            if function.is_kernel:
                self._kernel(function)
            else:
                self._function(function, common)
        variables = self._variables()
        declarations = self.calls.declarations()
        parts = [
            *variables,
            self.tables.text(),
            *declarations,
            *(DECLARATIONS if self.options.checks else ()),
            *self.flushing.definitions(),
            *self.functions,
            *self.regions.functions(),
            DEFINITIONS,
            *self._metadata(),
        ]
        return self.module.strings.whole("\n".join(parts) + "\n")

    def _metadata(self) -> list[str]:
        if not self.options.debug:
            return []
        named = [
            line
            for line in self.module.named_metadata
            if line.startswith(("!llvm.dbg", "!llvm.module"))
        ]
        strings = self.module.strings
        nodes = [
            f"!{number} = {for_host(text, strings)}"
            for number, text in self.module.metadata.items()
        ]
        return [*named, *nodes]

    def _variables(self) -> list[str]:
        lines: list[str] = []
        for name, text in self.module.variables.items():
            if name in self.shared or name.startswith("@llvm."):
                continue
            plain = plain_name(name)
            text = without_address_spaces(text)
            match = re.search(r"\b(global|constant) ", text)
            assert match is not None, text
            lines.append(f"{name} = internal {text[match.start() :]}")
            if plain in self.named_by_host:
                value = text[match.end() :]
                size, _ = size_and_alignment(value[: type_end(value)])
                self.tables.variable(name, size, constant=match[1] == "constant")
        return lines

    def _prepare(self, function: Function, layout: SharedLayout) -> Prologue:
        """Lowers what a function's instructions say to the host's terms; its stops are left."""
        self.flushing.apply(function)
        define_conversions(function)
        prologue = Prologue()
        symbols = shared_addresses(layout, self.shared, function, prologue)
        for instruction in function.instructions():
            text = without_address_spaces(instruction.text)
            text = expand_constants(text, symbols, prologue)
            if text != instruction.text:
                instruction.text = text
        self.calls.lower(function, prologue)
        return prologue

    def _function(self, function: Function, layout: SharedLayout) -> None:
        prologue = self._prepare(function, layout)
        self.calls.refuse_stops(function)
        blocks = _with_entry(function.blocks, prologue.needed(locals_of(function.blocks)))
        subprogram = f" !dbg !{function.subprogram}" if self._has_lines(function) else ""
        attributes = self._attributes(function)
        self.functions.append(
            f"define internal {signature(function)} "
            f"{attributes}{subprogram} {{\n{self._listing(blocks)}\n}}\n"
        )

    def _has_lines(self, function: Function) -> bool:
        return self.options.debug and function.subprogram is not None

    def _listing(self, blocks: Sequence[Block]) -> str:
        lines: list[str] = []
        for block in blocks:
            lines.append(f"{block.label}:")
            lines += [f"  {item.text}" for item in block.instructions]
        return self._finished("\n".join(lines))

    def _finished(self, text: str) -> str:
        """Without metadata but for locations and hirc's own: it tells of GPU threads one by one."""
        return _METADATA.sub(self._kept_metadata, text)

    def _kept_metadata(self, match: re.Match[str]) -> str:
        is_line = self.options.debug and match[1] == "dbg"
        return match.group() if is_line or int(match[2]) >= EMPTY else ""

    def _attributes(self, function: Function | None = None, *, cpu: str = "") -> str:
        group = ""
        if function is not None and function.attribute_group is not None:
            group = self.module.attributes.get(function.attribute_group, "")
        kept = [
            word
            for word in ("noinline", "alwaysinline", "noreturn")
            if re.search(rf"\b{word}\b", group)
        ]
        processor = [f'"target-cpu"="{cpu}"'] if cpu else []
        return " ".join(["nounwind", *kept, *processor])

    def _kernel(self, kernel: Function) -> None:
        yield_in_spin_loops(kernel, self.calls.is_idle)
        yield_after_mbarrier_inits(kernel)
        layout = self._layout(kernel)
        prologue = self._prepare(kernel, layout)
        copy_by_value(kernel)
        prologue.adopt(kernel)
        hoist_allocas(kernel)
        split = split_at_stops(kernel, self.calls.classify)
        if split.stops:
            refuse_dynamic_allocas(self.module, kernel)
        made = split_kernel(split)
        cpu = self.wide_cpu
        regions = self._regions(kernel, made, prologue, cpu if self.options.only_wide else "")
        is_twofold = cpu and not self.options.only_wide
        wide = self._regions(kernel, made, prologue, cpu) if is_twofold else []
        kinds = {stop.call.kind for stop in split.stops.values()}
        self.tables.kernel(
            KernelDescription(
                function=kernel,
                regions=regions,
                wide_regions=wide,
                stops=list(split.stops.values()),
                slots_of=made.slots_of,
                flags=self._flags(kernel, kinds),
                frame_bytes=made.frame_bytes,
                exchange_bytes=made.exchange_bytes,
                shared=layout,
            )
        )

    def _layout(self, kernel: Function | None) -> SharedLayout:
        gap = SHARED_GAP if "memory" in self.options.checks else 0
        known = self.shared_by_functions
        return layout_for(kernel, self.module, self.shared, gap=gap, common=known)

    def _flags(self, kernel: Function, stop_kinds: set[int]) -> int:
        flags = WARP_STOPS if stop_kinds.difference(_BLOCK_STOPS) else 0
        flags |= AMD if is_amd_kernel(kernel.header) else 0
        flags |= WIDE if self.options.warp_lanes > _NARROW else 0
        return flags | sum(_CHECK_FLAGS[check] for check in self.options.checks)

    def _regions(
        self, kernel: Function, made: SplitKernel, prologue: Prologue, cpu: str
    ) -> list[str]:
        """Emits the regions' functions, for the processor `cpu` or the least one; their symbols."""
        # Stack memory inside the loop over threads is the same for all of them.
        shares_stack = len(made.regions) == 1 and any(
            item.opcode == "alloca"
            for block in made.regions[0].blocks
            for item in block.instructions
        )
        kernel_name = plain_name(kernel.name)
        names: list[str] = []
        for region in made.regions:
            name = f"{kernel_name}.region{region.state}"
            plain = self._is_plain(region.blocks)
            if cpu and plain and not self.options.only_wide:
                names.append(global_name(name))
                continue
            name += ".wide" if cpu else ""
            needed = prologue.needed(region.locals)
            used = region.locals | locals_of([Block("", needed)])
            code = RegionCode(
                name,
                {n: item for n, item in enumerate(kernel.parameters) if item.name in used},
                _with_entry(region.blocks, needed),
                region.ends,
                independent=not shares_stack,
                plain=plain,
                attributes=self._attributes(cpu=cpu),
                locations=self._locations(kernel, name),
            )
            self.regions.add(code)
            names.append(global_name(name))
        return names

    def _is_plain(self, blocks: Sequence[Block]) -> bool:
        """Returns whether a region has more instructions than are optimised, and can do without.

        LLVM 22's code generator for x86 may take constants of 32 bits for elements of 8 or 16 where
        a vector is made of parts of others, as in a transpose, or of bitwise operations and shifts,
        and was not optimised: an assertion, in builds that have these.
        """
        if not 0 < self.options.most_optimised < sum(len(block.instructions) for block in blocks):
            return False
        instructions = [item.text for block in blocks for item in block.instructions]

        def has(pattern: re.Pattern[str]) -> bool:
            return any(map(pattern.search, instructions))

        return not (has(_NARROW_SHUFFLE) or (has(_NARROW_INSERT) and has(_NARROW_BITS)))

    def _locations(
        self, kernel: Function, name: str
    ) -> tuple[RegionLocations, RegionLocations] | None:
        if not self.options.debug:
            return None
        body = RegionLocations.of(self.module, kernel, f"{name}.thread")
        loop = RegionLocations.of(self.module, kernel, name)
        return (body, loop) if body and loop else None


def _with_entry(blocks: Sequence[Block], needed: Sequence[Instruction]) -> list[Block]:
    """The blocks with what they need of the prologue in front."""
    first, *rest = blocks
    return [Block(first.label, [*needed, *first.instructions]), *rest]
