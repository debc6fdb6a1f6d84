"""Which programs LLVM may refuse to generate code of: of the others that is done in the process."""

import pytest

from hirc.compiler import host_code
from hirc.compiler.host_code import host_object, is_refusable
from hirc.compiler.llvm_ir import LlvmModule, host_machine
from hirc.compiler.session import Session
from hirc.dialects.mlir import ir

_TENSORS = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }"
_HOST_IR = """
"hir.program"() ({
^bb0(%x: memref<?xf32>):
}) {sym_name = "main", function_type = (memref<?xf32>) -> ()} : () -> ()
"""
_ASSEMBLY = """
func.func @main() {
  llvm.inline_asm has_side_effects "nop", "" : () -> ()
  return
}
"""
_SCALABLE = """
func.func @main(%a: vector<[4]xf32>) -> vector<[4]xf32> {
  %0 = arith.addf %a, %a : vector<[4]xf32>
  return %0 : vector<[4]xf32>
}
"""
_MADE_VECTOR = """
func.func @main() {
  %0 = arith.constant dense<0.0> : vector<[4]xf32>
  return
}
"""
_KERNEL = "gpu.module @kernels { gpu.func @kernel() kernel { gpu.return } }"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_TENSORS, False),
        (_HOST_IR, False),
        (_ASSEMBLY, True),
        (_SCALABLE, True),
        (_MADE_VECTOR, True),
        (_KERNEL, True),
    ],
)
def test_what_the_program_says_decides(text: str, *, expected: bool) -> None:
    module = ir.Module.parse(text, Session().context)
    assert is_refusable(module.operation) is expected


def test_other_code_is_generated_without_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "define i32 @f(i32 %x) {\n  ret i32 %x\n}\n"

    def module() -> LlvmModule:
        return LlvmModule(text, host_machine(2), name="host")

    apart = host_object(module())
    monkeypatch.setattr(host_code, "in_child", None)
    assert host_object(module(), is_refusable=False) == apart
