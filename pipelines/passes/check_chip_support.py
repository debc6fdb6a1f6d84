"""Refuses instructions that a chip to be compiled for does not have."""

from __future__ import annotations

import re
from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..walking import operations_where

# The first compute capability that has what an operation becomes ("Target ISA Notes" of the PTX
# ISA reference). MLIR checks only some of these, and LLVM's code generator aborts on the others.
_FIRST_CAPABILITY = {
    "nvvm.cluster.arrive": 90,
    "nvvm.cluster.arrive.relaxed": 90,
    "nvvm.cluster.wait": 90,
    "nvvm.cp.async.bulk.commit.group": 90,
    "nvvm.cp.async.bulk.tensor.global.shared.cta": 90,
    "nvvm.cp.async.bulk.tensor.shared.cluster.global": 90,
    "nvvm.cp.async.bulk.wait_group": 90,
    "nvvm.cp.async.commit.group": 80,
    "nvvm.cp.async.mbarrier.arrive": 80,
    "nvvm.cp.async.shared.global": 80,
    "nvvm.cp.async.wait.group": 80,
    "nvvm.elect.sync": 90,
    "nvvm.fence.mbarrier.init": 90,
    "nvvm.fence.proxy": 90,
    "nvvm.fence.proxy.acquire": 90,
    "nvvm.fence.proxy.release": 90,
    "nvvm.griddepcontrol": 90,
    "nvvm.ldmatrix": 75,
    "nvvm.mapa": 90,
    "nvvm.mbarrier.arrive": 80,
    "nvvm.mbarrier.arrive.expect_tx": 90,
    "nvvm.mbarrier.arrive.nocomplete": 80,
    "nvvm.mbarrier.init": 80,
    "nvvm.mbarrier.inval": 80,
    "nvvm.mbarrier.test.wait": 80,
    "nvvm.mbarrier.try_wait": 90,
    "nvvm.mbarrier.try_wait.parity": 90,
    "nvvm.redux.sync": 80,
    "nvvm.stmatrix": 90,
}
# Operations of one architecture's own instruction set, the "a" chips.
_ARCHITECTURE_ONLY = {
    "nvvm.wgmma.commit.group.sync.aligned": ("sm_90a",),
    "nvvm.wgmma.fence.aligned": ("sm_90a",),
    "nvvm.wgmma.mma_async": ("sm_90a",),
    "nvvm.wgmma.wait.group.sync.aligned": ("sm_90a",),
}
_CLUSTER_REGISTERS = re.compile(r"nvvm\.read\.ptx\.sreg\.(n?clusterid|cluster\.)")
# mma.sync by shape, for what is older than sm_80; the double precision m8n8k4 is not.
_MMA_SHAPES = {(8, 8, 4): 70, (16, 8, 8): 75, (8, 8, 16): 75, (8, 8, 32): 75, (8, 8, 128): 75}
_WMMA_ELEMENTS = {"f16": 70, "f32": 70, "s8": 72, "u8": 72, "s32": 72}


@register
@dataclass(frozen=True)
class CheckChipSupport(Pass):
    """Reports the first nvvm operation that one of `chips`, joined by `+`, does not have.

        check-chip-support{chips=sm_80+sm_90}
        prog.mlir:7:5: error: 'nvvm.cluster.wait' needs sm_90 or newer, not sm_80

    Runs between `convert-gpu-to-nvvm` and `convert-nvvm-to-llvm`.
    """

    name: ClassVar[str] = "check-chip-support"
    subjects: ClassVar[tuple[str, ...]] = ("nvvm.",)
    makes: ClassVar[tuple[str, ...]] = ()
    chips: str = ""

    def run(self, op: ir.Operation) -> None:
        chips = [chip for chip in self.chips.split("+") if chip]
        for inner in operations_where(op, lambda inner: inner.name.startswith("nvvm.")):
            for chip in chips:
                _check(inner, chip)


def _check(op: ir.Operation, chip: str) -> None:
    only = _ARCHITECTURE_ONLY.get(op.name)
    if only is not None and chip not in only:
        fail(op, f"'{op.name}' needs --offload-arch={' or '.join(only)}, not {chip}")
    needed = _first_capability(op)
    if _capability(chip) < needed:
        fail(op, f"'{op.name}' needs sm_{needed} or newer, not {chip}")


def _capability(chip: str) -> int:
    digits = re.sub(r"\D", "", chip)
    return int(digits) if digits else 0


def _first_capability(op: ir.Operation) -> int:
    if op.name == "nvvm.mma.sync":
        m, n, k = (int(size) for size in re.findall(r"= (\d+)", str(op.attributes["shape"])))
        double = any(isinstance(operand.type, ir.F64Type) for operand in op.operands)
        return 80 if double else _MMA_SHAPES.get((m, n, k), 80)
    if op.name in ("nvvm.wmma.load", "nvvm.wmma.store", "nvvm.wmma.mma"):
        element = op.attributes["eltypeA" if op.name == "nvvm.wmma.mma" else "eltype"]
        return _WMMA_ELEMENTS.get(str(element).partition("<")[2].rstrip(">"), 80)
    if _CLUSTER_REGISTERS.match(op.name):
        return 90
    return _FIRST_CAPABILITY.get(op.name, 0)
