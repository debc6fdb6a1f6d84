"""Kernels at run time: the module's device code as a library, and a C function a kernel.

hirc's own compiler builds it, for the CPU device or for the GPU that the tensors are on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence

from ...dialects.mlir import ir
from ..output import scratch_folder

_SIZES = ("gx", "gy", "gz", "bx", "by", "bz")
# By the text of the program that was compiled.
_libraries: dict[tuple[str, bool], ctypes.CDLL] = {}


def find_kernel(
    module: ir.Module, gpu_module: str, function: str, on_gpu: bool
) -> tuple[Callable[..., None], list[ir.Type]]:
    """Returns the C function that launches a kernel and waits for it, and the kernel's argument
    types.

    It takes the three grid sizes, three block sizes and the bytes of dynamic shared memory as
    64-bit integers, then pointers to memref descriptors, and scalars as they are; a float of fewer
    than 32 bits as its bits. Raises ToolchainError where the compiler's tools are missing.
    """
    text = "\n".join(_program(module))
    library = _libraries.get((text, on_gpu))
    if library is None:
        library = _libraries[text, on_gpu] = _compiled(text, on_gpu)
    (types,) = [
        types
        for parent, name, types in _kernels(module)
        if (parent, name) == (gpu_module, function)
    ]
    return getattr(library, f"_mlir_ciface_{_launcher(gpu_module, function)}"), types


def is_small_float(value_type: ir.Type) -> bool:
    """Returns whether C has no type for it."""
    return isinstance(value_type, ir.FloatType) and value_type.width < 32


def _launcher(gpu_module: str, function: str) -> str:
    return f"hirc_launch_{gpu_module}_{function}"


def _device_modules(module: ir.Module) -> list[ir.Operation]:
    return [op.operation for op in module.body if op.operation.name == "gpu.module"]


def _kernels(module: ir.Module) -> Iterator[tuple[str, str, list[ir.Type]]]:
    """Yields each kernel's module, name and argument types."""
    for device in _device_modules(module):
        for op in device.regions[0].blocks[0].operations:
            attributes = op.operation.attributes
            is_kernel = "kernel" in attributes or "gpu.kernel" in attributes
            if op.operation.name == "gpu.func" and is_kernel:
                types = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value).inputs
                yield _name(device), _name(op.operation), list(types)


def _name(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def _program(module: ir.Module) -> Iterator[str]:
    """Yields a program of the device code and a function that launches each kernel."""
    yield "module attributes {gpu.container_module} {"
    for device in _device_modules(module):
        yield str(device.get_asm(print_generic_op_form=True, enable_debug_info=True))
    for gpu_module, function, types in _kernels(module):
        parameters = [f"%{name}: index" for name in _SIZES] + ["%shared: i64"]
        arguments: list[str] = []
        casts: list[str] = []
        for number, type_ in enumerate(types):
            arguments.append(f"%a{number} : {type_}")
            if not is_small_float(type_):
                parameters.append(f"%a{number}: {type_}")
                continue
            bits = f"i{ir.FloatType(type_).width}"
            parameters.append(f"%bits{number}: {bits}")
            casts.append(f"  %a{number} = arith.bitcast %bits{number} : {bits} to {type_}")
        yield f"func.func @{_launcher(gpu_module, function)}({', '.join(parameters)})"
        yield "    attributes {llvm.emit_c_interface} {"
        yield from casts
        yield "  %bytes = arith.trunci %shared : i64 to i32"
        yield f"  gpu.launch_func @{gpu_module}::@{function} blocks in (%gx, %gy, %gz)"
        yield "    threads in (%bx, %by, %bz) dynamic_shared_memory_size %bytes"
        yield f"    args({', '.join(arguments)})"
        yield "  return\n}"
    yield "}\n"


def _compiled(text: str, on_gpu: bool) -> ctypes.CDLL:
    # Imported late: a program without kernels needs no compiler.
    from ..driver import Compilation
    from ..native import native_targets
    from ..options import Emit, Options
    from ..target import CPU

    with scratch_folder() as folder:
        source, library = folder / "kernels.mlir", folder / "kernels.so"
        source.write_text(text)
        targets = native_targets() if on_gpu else (CPU,)
        options = Options(
            inputs=(str(source),), output=str(library), emit=Emit.SHARED, targets=targets
        )
        Compilation(options).run()
        return ctypes.CDLL(str(library))


def descriptor(address: int, sizes: Sequence[int], strides: Sequence[int]) -> ctypes.Structure:
    """MLIR's descriptor of a buffer."""
    rank = len(sizes)
    fields: list[tuple[str, type]] = [
        ("allocated", ctypes.c_void_p),
        ("aligned", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
    ]
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    structure = type("Descriptor", (ctypes.Structure,), {"_fields_": fields})
    made = structure(address, address, 0)
    if rank:
        made.sizes = (ctypes.c_int64 * rank)(*sizes)
        made.strides = (ctypes.c_int64 * rank)(*strides)
    return made
