"""The functions that calls of CUDA go to in a file for GPUs and the CPU device, as LLVM IR.

    define hidden ptr @__wrap_cudaMalloc(...) {
      %f = load atomic ptr, ptr @hirc_device_slots ...
      %r = musttail call ptr (...) %f(...)
      ret ptr %r
    }

A tail call with `...` hands on every argument where it is, whatever the function's type, and what
it returns: on x86-64 the function above is one jump. C has no such thing.
"""

from __future__ import annotations

from collections.abc import Sequence

CPU_PREFIX = "hirc_cpu_"
WRAPPED_PREFIX = "__wrap_"
_REAL_PREFIX = "__real_"

# What they return does not depend on a GPU: messages of what failed are made of it.
_OF_NO_GPU = (
    "cudaDriverGetVersion",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaRuntimeGetVersion",
)


def dispatch_text(names: Sequence[str]) -> str:
    """Returns the functions for calls of `names`, and the arrays that choose.c declares."""
    count = len(names)
    lines = [
        f"@hirc_device_slot_count = hidden constant i64 {count}",
        _array("hirc_device_slots", [f"first.{name}" for name in names], "global"),
        _array("hirc_device_of_gpus", [_REAL_PREFIX + name for name in names]),
        _array("hirc_device_of_cpu", [CPU_PREFIX + name for name in names]),
        _array("hirc_device_selecting", [_selecting(name) for name in names]),
        "declare hidden void @hirc_device_choose()",
        "declare hidden i32 @hirc_device_select()",
    ]
    for place, name in enumerate(names):
        lines.append(f"declare ptr @{_REAL_PREFIX}{name}(...)")
        lines.append(f"declare hidden ptr @{CPU_PREFIX}{name}(...)")
        lines.append(_call(f"hidden ptr @{WRAPPED_PREFIX}{name}", "", _slot(place, count)))
        choose = "  call void @hirc_device_choose()\n"
        lines.append(_call(f"internal ptr @first.{name}", choose, _slot(place, count)))
        if name not in _OF_NO_GPU:
            lines.append(_selecting_function(name))
    return "\n".join(lines) + "\n"


def _array(name: str, functions: Sequence[str], kind: str = "constant") -> str:
    items = ", ".join(f"ptr @{function}" for function in functions)
    return f"@{name} = hidden {kind} [{len(functions)} x ptr] [{items}], align 16"


def _selecting(name: str) -> str:
    return _REAL_PREFIX + name if name in _OF_NO_GPU else f"selecting.{name}"


def _slot(place: int, count: int) -> str:
    address = f"getelementptr ([{count} x ptr], ptr @hirc_device_slots, i64 0, i64 {place})"
    return f"load atomic ptr, ptr {address} acquire, align 8"


def _call(head: str, before: str, function: str) -> str:
    return (
        f"define {head}(...) nounwind {{\n{before}  %f = {function}\n"
        "  %r = musttail call ptr (...) %f(...)\n  ret ptr %r\n}"
    )


def _selecting_function(name: str) -> str:
    return f"""\
define internal ptr @selecting.{name}(...) nounwind {{
  %status = call i32 @hirc_device_select()
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %refused, label %go
refused:
  %wide = zext i32 %status to i64
  %word = inttoptr i64 %wide to ptr
  ret ptr %word
go:
  %r = musttail call ptr (...) @{_REAL_PREFIX}{name}(...)
  ret ptr %r
}}"""
