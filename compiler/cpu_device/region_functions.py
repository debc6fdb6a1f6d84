"""The text of a kernel's regions as functions: a body for one thread, and the loop over threads.

The loop goes over rows of threads that differ in x only, so that the inner loop counts x and the
vectoriser sees which addresses are next to one another. Its iterations are independent: between
two stops no order of a block's threads is promised. That is said in metadata, which makes the
vectoriser's checks for overlap unnecessary.

A *plain* region is compiled without optimisation, and so is the loop that calls it: a large one is
a GPU's unrolled code, which would take very long. What it calls of the library stays a call, which
is optimised, but for vectors of bf16.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...dialects.records import dataclass
from ..ir_text import global_name
from .block_layout import CONTEXT_PARAMETERS, FIELDS, STATES_DIFFER
from .debug_info import RegionLocations
from .device_ir import Block, Instruction, Parameter
from .llvm_text import size_and_alignment
from .metadata import ACCESS_GROUP, PARALLEL, RANGE

_PARAMETERS = "ptr noundef %block, ptr noundef %arguments, i32 noundef %first, i32 noundef %last"
_PASSED = "ptr %block, ptr %arguments, i32 %first, i32 %last"
_CONTEXT = "ptr %block, i32 %x, i32 %y, i32 %z, i32 %number"
_ACCESS = re.compile(r"^(?:%\S+ = )?(?:load|store) (?!volatile|atomic)")
_LIBRARY_CALL = re.compile(r"^(?:%\S+ = )?call [^@]*@hirc_")
# Without optimisation LLVM takes what a call returns of such a type for other registers, where
# another block uses it (x86-64 without instructions for bf16).
_PAIRS = re.compile(r"<\d+ x bfloat>")


@dataclass(frozen=True)
class RegionCode:
    """What the functions of one region, called `name`, are made of.

    `parameters` are the kernel's that it uses, by their numbers, `ends` the states it leads to.
    `independent` says that accesses to memory are those of single threads alone, `plain` that it
    is not optimised. `locations` are for the body and for the loop.
    """

    name: str
    parameters: Mapping[int, Parameter]
    blocks: Sequence[Block]
    ends: Sequence[int]
    independent: bool
    plain: bool
    attributes: str
    locations: tuple[RegionLocations, RegionLocations] | None = None

    def body(self) -> str:
        """Returns the lines between the braces of the function for one thread."""
        lines: list[str] = []
        for block in self.blocks:
            lines.append(f"{block.label}:")
            for instruction in block.instructions:
                text = instruction.text
                if self.locations:
                    text = _moved(instruction, self.locations[0])
                if self.plain and _LIBRARY_CALL.match(text) and not _PAIRS.search(text):
                    text = _not_inlined(text)
                is_access = instruction.opcode in ("load", "store") and _ACCESS.match(text)
                if self.independent and is_access:
                    text += f", {ACCESS_GROUP}"
                lines.append(f"  {text}")
        return "\n".join(lines)

    def functions(
        self, body: str, loop_number: int, given: Sequence[str] = (), end: str | None = None
    ) -> str:
        """Returns the function `name.thread` of `body`, and the function `name` that loops over it.

        Both are given more, parameters with their types. `end` is the state that it leads to where
        that is one, and it is not what `ends` says.
        """
        if end is None:
            end = str(self.ends[0] if self.ends else 0)
        return _thread(self, body, given) + _loop(self, loop_number, given, end)

    def call_of(self, shared: str, given: Sequence[str] = ()) -> str:
        """Returns the function `name` as a call of the one called `shared`, which is given more."""
        passed = "".join(f", {each}" for each in given)
        return (
            f"define internal i32 {global_name(self.name)}({_PARAMETERS}) {self.attributes} {{\n"
            f"  %state = tail call i32 {global_name(shared)}({_PASSED}{passed}) noinline\n"
            "  ret i32 %state\n}\n"
        )


def _loop(code: RegionCode, loop_number: int, given: Sequence[str], end: str) -> str:
    name, locations = code.name, code.locations
    call_debug = f", !dbg !{locations[1].call_site}" if locations else ""
    subprogram = f" !dbg !{locations[1].subprogram}" if locations else ""
    # One end needs no look at what each thread returns; a kernel that never ends has none.
    several = len(code.ends) > 1
    attributes = f"noinline optnone {code.attributes}" if code.plain else code.attributes
    loads, values = _arguments(code.parameters)
    thread = global_name(f"{name}.thread")
    parameters = code.parameters.values()
    passed = [f"{item.type} {value}" for item, value in zip(parameters, values, strict=True)]
    passed = "".join(f", {each}" for each in [*passed, *given])
    more = "".join(f", {each}" for each in given)
    result = _RESULT if several else _NO_RESULT
    return f"""\
define internal i32 {global_name(name)}({_PARAMETERS}{more}) {attributes}{subprogram} {{
entry:
  %size.at = getelementptr inbounds i8, ptr %block, i64 {FIELDS["size"]}
  %width = load i32, ptr %size.at, align 4, {RANGE}
  %height.at = getelementptr inbounds i8, ptr %block, i64 {FIELDS["size"] + 4}
  %height = load i32, ptr %height.at, align 4, {RANGE}
{_next_pointer() if several else ""}{loads}  %in.first.row = icmp ule i32 %last, %width
  br i1 %in.first.row, label %row, label %find
find:
  %found = udiv i32 %first, %width
  %found.z = udiv i32 %found, %height
  %found.y = urem i32 %found, %height
  %found.first = mul nuw nsw i32 %found, %width
  br label %row
row:
  %row.first = phi i32 [ 0, %entry ], [ %found.first, %find ], [ %reached, %row.end ]
  %y = phi i32 [ 0, %entry ], [ %found.y, %find ], [ %y.next, %row.end ]
  %z = phi i32 [ 0, %entry ], [ %found.z, %find ], [ %z.next, %row.end ]
{_PHI_ROW if several else ""}  %before = sub nsw i32 %first, %row.first
  %from = call i32 @llvm.smax.i32(i32 %before, i32 0)
  %left = sub nsw i32 %last, %row.first
  %to = call i32 @llvm.smin.i32(i32 %left, i32 %width)
  %any = icmp slt i32 %from, %to
  br i1 %any, label %thread, label %row.end
thread:
  %x = phi i32 [ %from, %row ], [ %x.next, %thread ]
{_PHI_THREAD if several else ""}  %number = add nuw nsw i32 %row.first, %x
  %state = call i32 {thread}({_CONTEXT}{passed}){call_debug}
{result}  %x.next = add nuw nsw i32 %x, 1
  %more = icmp slt i32 %x.next, %to
  br i1 %more, label %thread, label %row.end, !llvm.loop !{loop_number}
row.end:
{_PHI_END if several else ""}  %y.more = add nuw nsw i32 %y, 1
  %layer.ends = icmp eq i32 %y.more, %height
  %y.next = select i1 %layer.ends, i32 0, i32 %y.more
  %z.more = add nuw nsw i32 %z, 1
  %z.next = select i1 %layer.ends, i32 %z.more, i32 %z
  %reached = add nuw nsw i32 %row.first, %width
  %rows.left = icmp slt i32 %reached, %last
  br i1 %rows.left, label %row, label %done
done:
{_uniform() if several else f"  ret i32 {end}"}
}}

!{loop_number} = distinct !{{!{loop_number}{PARALLEL if code.independent else ""}}}
"""


_PHI_ROW = """\
  %lowest.row = phi i32 [ 2147483647, %entry ], [ 2147483647, %find ], [ %lowest.end, %row.end ]
  %highest.row = phi i32 [ -1, %entry ], [ -1, %find ], [ %highest.end, %row.end ]
"""
_PHI_THREAD = """\
  %lowest = phi i32 [ %lowest.row, %row ], [ %lowest.next, %thread ]
  %highest = phi i32 [ %highest.row, %row ], [ %highest.next, %thread ]
"""
_RESULT = f"""\
  %next.at = getelementptr inbounds i16, ptr %next, i32 %number
  %state16 = trunc i32 %state to i16
  store i16 %state16, ptr %next.at, align 2, {ACCESS_GROUP}
  %lowest.next = call i32 @llvm.smin.i32(i32 %lowest, i32 %state)
  %highest.next = call i32 @llvm.smax.i32(i32 %highest, i32 %state)
"""
_NO_RESULT = ""
_PHI_END = """\
  %lowest.end = phi i32 [ %lowest.row, %row ], [ %lowest.next, %thread ]
  %highest.end = phi i32 [ %highest.row, %row ], [ %highest.next, %thread ]
"""


def _next_pointer() -> str:
    return f"""\
  %next.field = getelementptr inbounds i8, ptr %block, i64 {FIELDS["next"]}
  %next = load ptr, ptr %next.field, align 8
"""


def _uniform() -> str:
    return f"""\
  %same = icmp eq i32 %lowest.end, %highest.end
  %result = select i1 %same, i32 %lowest.end, i32 {STATES_DIFFER}
  ret i32 %result"""


def _arguments(parameters: Mapping[int, Parameter]) -> tuple[str, list[str]]:
    """Loads of the kernel's arguments from where the launch points to, and their names."""
    lines: list[str] = []
    values: list[str] = []
    for number, parameter in parameters.items():
        lines.append(
            f"%argument{number}.at = getelementptr inbounds ptr, ptr %arguments, i64 {number}"
        )
        lines.append(f"%argument{number}.copy = load ptr, ptr %argument{number}.at, align 8")
        if parameter.byval:
            values.append(f"%argument{number}.copy")
            continue
        align = size_and_alignment(parameter.type)[1]
        values.append(f"%argument{number}")
        lines.append(
            f"%argument{number} = load {parameter.type}, ptr %argument{number}.copy, align {align}"
        )
    return "".join(f"  {line}\n" for line in lines), values


def _thread(code: RegionCode, body: str, given: Sequence[str]) -> str:
    inlining = "noinline optnone" if code.plain else "alwaysinline"
    subprogram = f" !dbg !{code.locations[0].subprogram}" if code.locations else ""
    own = [
        f"{item.type} {'noalias ' if item.noalias else ''}{item.name}"
        for item in code.parameters.values()
    ]
    parameters = "".join(f", {each}" for each in [*own, *given])
    return (
        f"define internal i32 {global_name(f'{code.name}.thread')}"
        f"({CONTEXT_PARAMETERS}{parameters}) "
        f"{inlining} {code.attributes}{subprogram} {{\n{body}\n}}\n\n"
    )


def _not_inlined(call: str) -> str:
    """Returns a call of a function that is always inlined, but for this one."""
    head, end, tail = call.rpartition(")")
    return f"{head}{end} noinline{tail}"


def _moved(instruction: Instruction, locations: RegionLocations) -> str:
    """Returns the instruction's text with its line as one of the region's; a call has one in any
    case.
    """
    item = Instruction(instruction.text)
    locations.move(item)
    if item.opcode == "call" and item.debug is None:
        item.text += f", !dbg !{locations.call_site}"
    return item.text
