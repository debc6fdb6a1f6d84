"""What orders threads: kernels that are right are not reported, however they are synchronised.

Each kernel has a twin with one line taken out or changed, which is a race and is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from hirc.compiler.cpu_device.code import CpuDeviceOptions
from support.cpu_kernels import Launch, build

_OPTIONS = CpuDeviceOptions(checks=frozenset({"memory", "race"}))


@dataclass(frozen=True)
class Order:
    """`wrong` takes the place of the text `right` in the faulty twin."""

    name: str
    source: str
    right: str
    wrong: str = ""
    threads: int = 128


_ORDERS = (
    Order(
        "lock",
        """
SHARED int lock, value;
KERNEL void order(int *out) {
  if (TX == 0)
    lock = value = 0;
  BARRIER();
  int free = 0;
  while (!__atomic_compare_exchange_n(&lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    free = 0;
  value += 1;
  __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
  BARRIER();
  out[TX] = value;
}
""",
        right="""  int free = 0;
  while (!__atomic_compare_exchange_n(&lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    free = 0;
""",
    ),
    Order(
        "flag",
        """
SHARED int value;
SHARED volatile int flag;
KERNEL void order(int *out) {
  if (TX == 0)
    flag = 0;
  BARRIER();
  if (TX == 0) {
    value = 7;
    __nvvm_membar_cta();
    flag = 1;
  } else if (TX == 64) {
    while (flag == 0)
      ;
    __nvvm_membar_cta();
    out[TX] = value;
  }
}
""",
        right="    while (flag == 0)\n      ;\n",
    ),
    Order(
        "arrive",
        """
SHARED int slots[64];
KERNEL void order(int *out) {
  if (TX < 64) {
    slots[TX] = TX;
    asm volatile("bar.arrive 1, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    out[TX] = slots[127 - TX];
  }
}
""",
        right="""    slots[TX] = TX;
    asm volatile("bar.arrive 1, 128;" ::: "memory");
""",
        wrong="""    asm volatile("bar.arrive 1, 128;" ::: "memory");
    slots[TX] = TX;
""",
    ),
    Order(
        "turns of named barriers",
        """
SHARED int slot[64];
KERNEL void order(int *out) {
  int sum = 0;
  for (int turn = 0; turn < 5; ++turn)
    if (TX < 64) {
      asm volatile("bar.sync 2, 128;" ::: "memory");
      slot[TX] = turn;
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
      asm volatile("bar.arrive 2, 128;" ::: "memory");
      asm volatile("bar.sync 1, 128;" ::: "memory");
      sum += slot[127 - TX];
    }
  out[TX] = sum;
}
""",
        right='      asm volatile("bar.sync 2, 128;" ::: "memory");\n      slot[TX] = turn;\n',
        wrong='      slot[TX] = turn;\n      asm volatile("bar.sync 2, 128;" ::: "memory");\n',
    ),
    Order(
        "mbarrier",
        """
SHARED long long barrier;
SHARED int slots[128];
KERNEL void order(int *out) {
  if (TX == 0)
    __nvvm_mbarrier_init_shared(&barrier, 128);
  BARRIER();
  slots[TX] = TX;
  long long state = __nvvm_mbarrier_arrive_shared(&barrier);
  while (!__nvvm_mbarrier_test_wait_shared(&barrier, state))
    ;
  out[TX] = slots[127 - TX];
}
""",
        right="  while (!__nvvm_mbarrier_test_wait_shared(&barrier, state))\n    ;\n",
    ),
    Order(
        "copies",
        """
SHARED int slots[128];
KERNEL void order(int *out) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::
               "r"((u32)(u64)&slots[TX]), "l"((u64)&out[TX]) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  BARRIER();
  out[127 - TX] = slots[127 - TX];
}
""",
        right="  BARRIER();\n",
    ),
    Order(
        "shuffles",
        """
SHARED int sums[4];
KERNEL void order(int *out) {
  int sum = TX;
  for (int step = 16; step; step /= 2)
    sum += __nvvm_shfl_sync_down_i32(-1, sum, step, 31);
  if (LANE == 0)
    sums[TX / 32] = sum;
  BARRIER();
  out[TX] = sums[0] + sums[1] + sums[2] + sums[3];
}
""",
        right="  BARRIER();\n",
    ),
    Order(
        "threads that end",
        """
SHARED int slots[128];
KERNEL void order(int *out) {
  slots[TX] = TX;
  if (TX >= 64)
    return;
  BARRIER();
  out[TX] = slots[127 - TX];
}
""",
        right="  BARRIER();\n",
    ),
    Order(
        "the reads of many",
        """
SHARED int slots[128];
KERNEL void order(int *out) {
  slots[TX] = TX;
  BARRIER();
  int value = slots[5] + slots[6];
  BARRIER();
  slots[TX] = value;
  out[TX] = slots[TX];
}
""",
        right="  BARRIER();\n  slots[TX] = value;\n",
        wrong="  slots[TX] = value;\n",
    ),
)


def _run(source: str, order: Order, folder: Path) -> None:
    out = np.zeros(order.threads, np.int32)
    kernels = build(source, folder, debug=True, options=_OPTIONS)
    kernels.run(Launch("order", [out], block=(order.threads, 1, 1)))


@pytest.mark.parametrize("order", _ORDERS, ids=lambda order: order.name)
def test_right(order: Order, tmp_path: Path) -> None:
    assert order.right in order.source
    _run(order.source, order, tmp_path)


@pytest.mark.parametrize("order", _ORDERS, ids=lambda order: order.name)
def test_wrong(order: Order, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="error: race: "):
        _run(order.source.replace(order.right, order.wrong), order, tmp_path)
