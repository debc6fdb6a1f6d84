"""Reading LLVM's text: operands, types, hostile modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from hirc.compiler.cpu_device.address_spaces import without_address_spaces
from hirc.compiler.cpu_device.device_ir import Instruction, parse_module
from hirc.compiler.cpu_device.llvm_text import split_commas, typed_value
from hirc.compiler.cpu_device.phis import phi_incoming, phi_with
from hirc.compiler.cpu_device.result_types import result_type
from hirc.compiler.cpu_device.retarget import RetargetOptions, retarget
from hirc.compiler.ir_text import IrText, global_name, matching, plain_name
from hirc.compiler.llvm_ir import LlvmModule, host_machine
from support.cpu_kernels import device_machine, nvvm_ir, optimized

from .building import KERNELS


def test_nested_brackets() -> None:
    text = "(ptr @f, { i32, [2 x i8] } zeroinitializer), !5"
    assert text[matching(text, 0) :] == ", !5"
    assert split_commas("i32 1, { i8, i8 } zeroinitializer, <2 x i32> <i32 1, i32 2>") == [
        "i32 1",
        "{ i8, i8 } zeroinitializer",
        "<2 x i32> <i32 1, i32 2>",
    ]


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("i32 noundef signext %x", ("i32", "%x")),
        ("ptr nonnull align 4 dereferenceable(8) @g", ("ptr", "@g")),
        ("ptr sret({ i32, i64 }) align 8 %r", ("ptr", "%r")),
        ("ptr noundef byval([4 x i32]) align 16 %p", ("ptr byval([4 x i32]) align 16", "%p")),
        ("<2 x ptr addrspace(3)> %v", ("<2 x ptr addrspace(3)>", "%v")),
        ("float range(i32 0, 4) 0x36A0000000000000", ("float", "0x36A0000000000000")),
    ],
)
def test_typed_value(text: str, typed: tuple[str, str]) -> None:
    assert typed_value(text) == typed


@pytest.mark.parametrize("name", ["plain.name", "1st", "a b", 'quo"te', "back\\slash", "größe", ""])
def test_symbol_names(name: str) -> None:
    assert plain_name(global_name(name)) == name
    assert global_name(name).startswith("@")


def test_phi_of_arrays() -> None:
    phi = Instruction("%p = phi [2 x ptr] [ [ptr @a, ptr null], %one ], [ %x, %two ]")
    assert phi_incoming(phi) == [("[ptr @a, ptr null]", "%one"), ("%x", "%two")]
    assert phi_with(phi, phi_incoming(phi)).text == phi.text
    assert result_type(phi) == "[2 x ptr]"


_HOSTILE = """\
%pair = type { i32, %"in ner" }
%"in ner" = type { [2 x i8], i64 }
@"odd, name" = global [3 x i8] c"\\22)\\00"
@other = alias i8, getelementptr (i8, ptr @"odd, name", i64 1)
define i32 @"f (x)"(i32 %"a b", %pair %0, ptr byval(%pair) align 16 %1) #0 {
  switch i32 %"a b", label %"no, ne" [
    i32 1, label %3
    i32 -5, label %"no, ne"
  ]

3:
  %4 = extractvalue %pair %0, 1, 1
  %5 = load i8, ptr @other, align 1
  %6 = trunc i64 %4 to i32, !odd !0
  ret i32 %6

"no, ne":
  %7 = phi i32 [ 7, %2 ], [ 7, %2 ]
  ret i32 %7
}
attributes #0 = { "key"="value } {" nounwind }
!0 = !{!"brackets ] } in strings", i32 3}
"""


def test_hostile_module() -> None:
    module = parse_module(IrText.of(LlvmModule(_HOSTILE, device_machine(), name="hostile").text()))
    function = module.functions[global_name("f (x)")]
    assert [item.type for item in function.parameters] == [
        "i32",
        "{ i32, { [2 x i8], i64 } }",
        "ptr",
    ]
    assert function.parameters[2].byval == "{ i32, { [2 x i8], i64 } }"
    assert function.parameters[2].align == 16
    first, third, none = function.blocks
    assert first.terminator.successors == [none.name, third.name, none.name]
    assert [origin for _, origin in phi_incoming(none.phis[0])] == [first.name, first.name]
    assert "getelementptr" in third.instructions[1].text
    assert module.attribute(function, "key") == "value } {"
    assert "@other" not in module.variables
    # What was read is IR still.
    listing = "\n".join(
        f"{block.label}:\n" + "\n".join(item.text for item in block.instructions)
        for block in function.blocks
    )
    parameters = ", ".join(f"{item.type} {item.name}" for item in function.parameters)
    variable = f"{global_name('odd, name')} = global [3 x i8] zeroinitializer"
    text = f"{variable}\ndefine i32 @f({parameters}) {{\n{listing}\n}}\n!0 = !{{}}"
    LlvmModule(module.strings.whole(text), device_machine(), name="again").verify()


_SAME_NAMES = """\
%pair = type { i32, i32 }
define ptx_kernel void @k(ptr %out, %pair %p) {
start:
  %x = extractvalue %pair %p, 0
  br label %next
next:
  %pair = phi i32 [ %x, %start ]
  store i32 %pair, ptr %out
  ret void
}
"""


_PARAMETER = """\
%pair = type { i32, i32 }
define ptx_kernel void @k(PARAMETERS) {
  %x = extractvalue %pair %p, 0
  store i32 %x, ptr %pair
  ret void
}
"""


@pytest.mark.parametrize(
    "source",
    [
        _SAME_NAMES,
        *(
            _PARAMETER.replace("PARAMETERS", each)
            for each in ("%pair %p, ptr %pair", "ptr noundef %pair, %pair %p")
        ),
    ],
)
def test_a_local_named_as_a_type(source: str) -> None:
    text = LlvmModule(source, device_machine(), name="names").text()
    made = retarget(IrText.of(text), (), RetargetOptions())
    LlvmModule(made, host_machine(0), name="made").verify()


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*")), ids=lambda path: path.name)
@pytest.mark.parametrize("level", [0, 2])
def test_result_types_are_llvms(path: Path, level: int) -> None:
    source = path.read_text()
    text = source if path.suffix == ".ll" else nvvm_ir(source, opt_level=level)
    llvm = LlvmModule(optimized(text, level), device_machine(level), name="types")
    named = [str(item) for item in llvm.raw.struct_types if str(item).startswith("%")]
    parsed = parse_module(IrText.of(llvm.text()))
    for function in llvm.raw.functions:
        if function.is_declaration:
            continue
        ours = parsed.functions[global_name(function.name)].instructions()
        values = (value for block in function.blocks for value in block.instructions)
        for instruction, value in zip(ours, values, strict=True):
            if str(value.type) == "void":
                continue
            variable = f"@v = external global {str(value.type).partition(' = ')[0]}"
            expected = parse_module(IrText.of("\n".join([*named, variable]))).variables["@v"]
            instruction.text = without_address_spaces(instruction.text)
            made = f"external global {result_type(instruction)}"
            assert made == without_address_spaces(expected), instruction.text
