"""Memory that kernels may access besides allocations, and faults in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from hirc.compiler.cpu_device.code import CpuDeviceOptions
from support.cpu_kernels import Kernels, Launch, build

_OPTIONS = CpuDeviceOptions(checks=frozenset({"memory"}))


@dataclass(frozen=True)
class Fault:
    """`wrong` takes the place of the text `right`, and `message` is what is said about it."""

    name: str
    source: str
    right: str
    wrong: str
    message: str


_FAULTS = (
    Fault(
        "variable",
        """
__attribute__((address_space(1))) int counts[3] = {1, 2, 3};
KERNEL void kernel(int *out) { out[TX] = counts[TX % 3]; }
""",
        right="TX % 3",
        wrong="3 * (TX == 5)",
        message=r"out-of-bounds read of 4 bytes in kernel kernel at \S+:3:\d+, block \(0,0,0\) "
        r"thread \(5,0,0\): address 0x[0-9a-f]+ is 0 bytes after the variable counts of 12 bytes",
    ),
    Fault(
        "null",
        """
KERNEL void kernel(int *out) {
  int *volatile place = TX != 77 ? out + TX : 0;
  *place = 1;
}
""",
        right="TX != 77",
        wrong="TX != 7",
        message=r"out-of-bounds write of 4 bytes .* thread \(7,0,0\): address 0x0 is a null",
    ),
    Fault(
        "heap",
        """
void *malloc(unsigned long);
void free(void *);
KERNEL void kernel(int *out) {
  int *volatile own = malloc(12);
  own[0] = TX;
  own[2] = 1;
  out[TX] = own[0];
  free(own);
}
""",
        right="own[2]",
        wrong="own[3]",
        message=r"out-of-bounds write of 4 bytes in kernel kernel at \S+:7:\d+, .*: address "
        r"0x[0-9a-f]+ is 0 bytes after an allocation of 12 bytes \(malloc in a kernel\)",
    ),
    Fault(
        "heap after free",
        """
void *malloc(unsigned long);
void free(void *);
KERNEL void kernel(int *out) {
  int *volatile own = malloc(4);
  *own = TX;
  out[TX] = *own;
  free(own);
  out[TX] += 1;
}
""",
        right="out[TX] += 1",
        wrong="out[TX] += *own",
        message=r"use after free: read of 4 bytes in kernel kernel at \S+:9:\d+, .* is at byte 0 "
        r"of a freed allocation of 4 bytes \(malloc in a kernel\)",
    ),
    Fault(
        "freed twice",
        """
void *malloc(unsigned long);
void free(void *);
KERNEL void kernel(int *out) {
  int *volatile own = malloc(4);
  free(own);
  out[TX] = 1;
}
""",
        right="out[TX] = 1",
        wrong="free(own)",
        message="free of what malloc did not return in kernel kernel",
    ),
    Fault(
        "own memory",
        """
struct pair { int first[8]; int *where; };
NOINLINE int pick(int *from, int at) { return from[at]; }
KERNEL void kernel(int *out, struct pair pair, int which) {
  int local[16];
  for (int i = 0; i < 16; ++i)
    local[i] = i * TX;
  int *from = which ? local : pair.first;
  BARRIER();
  out[TX] = pick(from, TX % 8) + pick(local, 3);
}
""",
        right="out[TX] =",
        wrong="out[TX + 64] =",
        message=r"out-of-bounds write of 4 bytes in kernel kernel at \S+:10:",
    ),
)


def _run(kernels: Kernels, fault: Fault) -> None:
    out = np.ones(64, np.int32)
    more = [bytes(40), np.int32(0)] if "struct pair pair" in fault.source else []
    kernels.run(Launch("kernel", [out, *more], block=(64, 1, 1)))


def _build(source: str, folder: Path) -> Kernels:
    return build(source, folder, debug=True, options=_OPTIONS)


@pytest.mark.parametrize("fault", _FAULTS, ids=lambda fault: fault.name)
def test_right(fault: Fault, tmp_path: Path) -> None:
    assert fault.right in fault.source
    _run(_build(fault.source, tmp_path), fault)


@pytest.mark.parametrize("fault", _FAULTS, ids=lambda fault: fault.name)
def test_fault(fault: Fault, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=fault.message):
        _run(_build(fault.source.replace(fault.right, fault.wrong), tmp_path), fault)
