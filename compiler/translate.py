from ..dialects.mlir import llvm


def to_llvm_ir(op, *, consumer=22):
    return llvm.translate_module_to_llvmir(op)
