"""The one import of MLIR's Python bindings, so that another provider can replace this one.

The provider is the `torch-mlir` wheel: every upstream dialect and pass, no NVPTX code generator.
A dialect's module is loaded when it is first named: the generated ones are large, and a
compilation names few of them.
"""

import ctypes
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from math import prod
from types import ModuleType
from typing import TYPE_CHECKING, Any


@contextmanager
def _numpy_left_out() -> Generator[None, None, None]:
    """Keeps the bindings from loading numpy, which takes longer than all the rest of them.

    They use it, where it can be imported, for four builders of constant attributes that no
    operation that is built has. Where numpy is loaded already, nothing changes.
    """
    if "numpy" in sys.modules:
        yield
        return
    sys.modules["numpy"] = None  # pyright: ignore[reportArgumentType] - fails an import of it
    try:
        yield
    finally:
        del sys.modules["numpy"]


with _numpy_left_out():
    from torch_mlir import ir, passmanager, rewrite
    from torch_mlir._mlir_libs import _mlir as bindings

if TYPE_CHECKING:
    from torch_mlir.dialects import (
        affine,
        arith,
        builtin,
        cf,
        ext,
        func,
        gpu,
        irdl,
        llvm,
        math,
        memref,
        nvgpu,
        nvvm,
        scf,
        vector,
    )
    from torch_mlir.dialects import llvm as llvm_types

# The LLVM whose text the provider prints (see compiler/gate).
PRODUCER_LLVM = 24

__all__ = [
    "PRODUCER_LLVM",
    "address_of",
    "affine",
    "apply_transform",
    "arith",
    "bindings",
    "builtin",
    "cf",
    "context",
    "dense_bytes",
    "ext",
    "func",
    "gpu",
    "indexing_maps",
    "ir",
    "irdl",
    "llvm",
    "llvm_types",
    "load_dialect",
    "load_named_dialects",
    "math",
    "memref",
    "nvgpu",
    "nvvm",
    "passmanager",
    "rewrite",
    "scf",
    "vector",
]


def _classes_left_out(dialect: str) -> None:
    """Has the bindings treat a dialect's operations as operations without classes of their own.

    They load a dialect's module when they meet an operation of it. A later import of the module,
    anybody's, finds the real one.
    """
    name = f"torch_mlir.dialects.{dialect}"
    if name in sys.modules:
        return
    sys.modules[name] = ModuleType(name)
    bindings.globals._check_dialect_module_loaded(dialect)
    del sys.modules[name]


# linalg's module takes longer to load than all others, NumPy included, and llvm's longer than the
# rest. No code here needs a class of linalg or transform. Code that makes operations of nvvm, or
# operations of llvm that llvm.py does not make, imports their modules itself.
for _dialect in ("linalg", "llvm", "nvvm", "transform"):
    _classes_left_out(_dialect)


class _Dialect(ModuleType):
    """A dialect's module, loaded when one of its names is first used."""

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        vars(self).update(vars(module))
        return getattr(module, name)


def __getattr__(name: str) -> ModuleType:
    """Returns the module of the dialect `name`; Python asks here for what is not yet defined."""
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    if name == "llvm_types":
        # The extension alone: the dialect's module is large.
        module = import_module("torch_mlir._mlir_libs._mlirDialectsLLVM")
    else:
        module = _Dialect(f"torch_mlir.dialects.{name}")
    globals()[name] = module
    return module


def apply_transform(payload: ir.Operation, sequence: ir.Operation, library: ir.Operation) -> None:
    """Runs a transform.named_sequence of `library` on an operation. ValueError if it fails."""
    # The extension alone: the dialect's module is large.
    interpreter = import_module("torch_mlir._mlir_libs._mlirTransformInterpreter")
    interpreter.apply_named_sequence(payload, sequence, library)


def indexing_maps(op: ir.Operation) -> list[ir.AffineMap]:
    """Returns the indexing maps of a linalg operation, named ones too."""
    # The extension alone: the dialect's module is large.
    linalg = import_module("torch_mlir._mlir_libs._mlirDialectsLinalg")
    return [ir.AffineMapAttr(each).value for each in linalg.get_indexing_maps(op)]


def load_named_dialects(source: bytes, into: ir.Context) -> None:
    """Makes TMTensor, torch-mlir's dialect of scans and sorts, known if a source names it."""
    if b"tm_tensor" not in source:
        return
    # The bindings do not register it by itself; a pass that makes operations of it does.
    import_module("torch_mlir._mlir_libs._torchMlir")
    text = "builtin.module(func.func(convert-torch-to-tmtensor))"
    passmanager.PassManager.parse(text, into).run(ir.Module.parse("module {}", into).operation)


_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_size_t, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def address_of(item: ir.Operation | ir.OpView | ir.Attribute) -> int:
    """Returns what MLIR's C interface takes an operation or an attribute as: all that it holds."""
    capsule: object = getattr(item, "_CAPIPtr")  # noqa: B009 - no part of the type's stub
    return _capsule_pointer(capsule, _capsule_name(capsule))


def _hash(self: ir.Operation | ir.OpView) -> int:
    """Is the same as long as an operation lives, as its equality is.

    The bindings' own is of what the operation is made of: a set or a dict would no longer have it
    once an operand or an attribute has changed.
    """
    return address_of(self)


ir.Operation.__hash__ = ir.OpView.__hash__ = _hash


def dense_bytes(attribute: ir.Attribute, element_bytes: int) -> bytes | None:
    """Returns the elements of a dense attribute as they lie in memory, a splat's once; None of
    another attribute.

    The bindings have them of few types, and none of bf16, f8 and complex numbers.
    """
    library = ctypes.PyDLL(bindings.__file__)
    address = ctypes.c_void_p(address_of(attribute))
    library.mlirAttributeIsADenseElements.restype = ctypes.c_bool
    library.mlirDenseElementsAttrIsSplat.restype = ctypes.c_bool
    library.mlirDenseElementsAttrGetRawData.restype = ctypes.c_void_p
    if not library.mlirAttributeIsADenseElements(address):
        return None
    is_splat = library.mlirDenseElementsAttrIsSplat(address)
    count = 1 if is_splat else prod(ir.ShapedType(attribute.type).shape)
    data = library.mlirDenseElementsAttrGetRawData(address)
    return ctypes.string_at(data, count * element_bytes) if count else b""


# What contexts need of the bindings is one thread's at a time. A dialect is one class for all
# contexts, which keeps the module that it is loaded from: another thread would put its own there,
# and free the one that is being loaded.
_loading = threading.Lock()
_DENSE_ATTRIBUTES_KNOWN: list[bool] = []


def _make_dense_attributes_known(context: ir.Context) -> None:
    """Has the bindings give a dense attribute that has no class as a plain one.

    Of complex numbers, for one: where an operation has it, they raise a TypeError otherwise.
    """
    with _loading:
        if _DENSE_ATTRIBUTES_KNOWN:
            return
        dense = ir.Attribute.parse("dense<0> : tensor<1xi1>", context)
        bindings.register_type_caster(dense.typeid, replace=True)(_dense_attribute)
        _DENSE_ATTRIBUTES_KNOWN.append(True)


def _dense_attribute(attribute: ir.Attribute) -> ir.Attribute:
    element = ir.ShapedType(attribute.type).element_type
    if isinstance(element, ir.IntegerType | ir.IndexType):
        return ir.DenseIntElementsAttr(attribute)
    return ir.DenseFPElementsAttr(attribute) if isinstance(element, ir.FloatType) else attribute


def load_dialect(dialect: "type[ext.Dialect]", into: ir.Context) -> None:
    """Makes a Python-defined dialect known to a context; does nothing the second time.

    The bindings look for a module of the dialect's name whenever they meet an operation of it, and
    search the whole path each time they find none: an empty one spares that.
    """
    name = dialect.DIALECT_NAMESPACE
    module = f"torch_mlir.dialects.{name}"
    with _loading:
        sys.modules.setdefault(module, ModuleType(module))
        if not into.is_dialect_loaded(name):
            with into:
                dialect.load()


def context() -> ir.Context:
    """Returns a fresh context.

    Multithreading is off: Python verifiers crash on MLIR's own threads. Every diagnostic goes to
    the handlers attached to the context, errors too.
    """
    fresh = ir.Context()
    fresh.enable_multithreading(False)
    fresh.emit_error_diagnostics = True
    _make_dense_attributes_known(fresh)
    return fresh
