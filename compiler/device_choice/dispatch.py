"""The functions that calls of CUDA go to in a file for several kinds of devices, as LLVM IR.

    define hidden ptr @__wrap_cudaMalloc(...) {
      %f = load atomic ptr, ptr @hirc_device_slots ...
      %r = musttail call ptr (...) %f(...)
      ret ptr %r
    }

A tail call with `...` hands on every argument where it is, whatever the function's type, and what
it returns: on x86-64 the function above is one jump. C has no such thing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..target import Devices

CPU_PREFIX = "hirc_cpu_"
AMD_PREFIX = "hirc_amd_"
WRAPPED_PREFIX = "__wrap_"
_REAL_PREFIX = "__real_"

# What they return does not depend on a GPU: messages of what failed are made of it.
_OF_NO_GPU = (
    "cudaDriverGetVersion",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaRuntimeGetVersion",
)
# What choose.c calls of each kind of GPU, in the order of its struct.
_ASKED = (
    "cudaGetDeviceCount",
    "cudaSetDevice",
    "cudaDriverGetVersion",
    "cudaRuntimeGetVersion",
    "cudaFuncGetAttributes",
    "cudaGetLastError",
    "cudaGetErrorString",
)
_GPUS = {Devices.GPUS: ("cuda", _REAL_PREFIX), Devices.AMD: ("hip", AMD_PREFIX)}
# hipErrorNotSupported, of a function that HIP's runtime is not called for.
_UNSUPPORTED = 801


def dispatch_text(names: Sequence[str], devices: Devices, of_amd: Collection[str]) -> str:
    """Returns the functions for calls of `names`, and the arrays that choose.c declares.

    `of_amd` are the functions that HIP's runtime is called for.
    """
    count = len(names)
    lines = [
        f"@hirc_device_slot_count = hidden constant i64 {count}",
        _array("hirc_device_slots", [f"first.{name}" for name in names], "global"),
        "declare hidden void @hirc_device_choose()",
        "declare hidden i32 @hirc_device_select()",
    ]
    functions: set[str] = set()
    for device, (kind, prefix) in _GPUS.items():
        asked = real = selecting = []
        if device in devices:
            real = [prefix + name for name in names]
            if device is Devices.AMD:
                real = [prefix + name if name in of_amd else "unsupported" for name in names]
            selecting = [
                function if name in _OF_NO_GPU else f"selecting.{kind}.{name}"
                for name, function in zip(names, real, strict=True)
            ]
            asked = [prefix + name for name in _ASKED]
            functions.update(asked, real)
            lines += [
                _selecting_function(chosen, function)
                for chosen, function in zip(selecting, real, strict=True)
                if chosen != function
            ]
        lines.append(_array(f"hirc_device_of_{kind}", real))
        lines.append(_array(f"hirc_device_selecting_{kind}", selecting))
        lines.append(_array(f"hirc_device_{kind}", asked or ["none"] * len(_ASKED)))
    on_cpu = [CPU_PREFIX + name for name in names] if Devices.CPU in devices else []
    lines.append(_array("hirc_device_of_cpu", on_cpu))
    functions.update(on_cpu)
    lines += [_declared(name) for name in sorted(functions - {"unsupported"})]
    word = f"ptr inttoptr (i64 {_UNSUPPORTED} to ptr)"
    lines.append(f"define internal ptr @unsupported(...) {{\n  ret {word}\n}}")
    for place, name in enumerate(names):
        lines.append(_call(f"hidden ptr @{WRAPPED_PREFIX}{name}", "", _slot(place, count)))
        choose = "  call void @hirc_device_choose()\n"
        lines.append(_call(f"internal ptr @first.{name}", choose, _slot(place, count)))
    return "\n".join(lines) + "\n"


def _declared(name: str) -> str:
    hidden = "" if name.startswith(_REAL_PREFIX) else "hidden "
    return f"declare {hidden}ptr @{name}(...)"


def _array(name: str, functions: Sequence[str], kind: str = "constant") -> str:
    """Returns an array of functions; none is NULL."""
    items = ", ".join("ptr null" if each == "none" else f"ptr @{each}" for each in functions)
    return f"@{name} = hidden {kind} [{len(functions)} x ptr] [{items}], align 16"


def _slot(place: int, count: int) -> str:
    address = f"getelementptr ([{count} x ptr], ptr @hirc_device_slots, i64 0, i64 {place})"
    return f"load atomic ptr, ptr {address} acquire, align 8"


def _call(head: str, before: str, function: str) -> str:
    return (
        f"define {head}(...) nounwind {{\n{before}  %f = {function}\n"
        "  %r = musttail call ptr (...) %f(...)\n  ret ptr %r\n}"
    )


def _selecting_function(name: str, function: str) -> str:
    return f"""\
define internal ptr @{name}(...) nounwind {{
  %status = call i32 @hirc_device_select()
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %refused, label %go
refused:
  %wide = zext i32 %status to i64
  %word = inttoptr i64 %wide to ptr
  ret ptr %word
go:
  %r = musttail call ptr (...) @{function}(...)
  ret ptr %r
}}"""
