"""Prints the host's IR for the NVVM IR of a file, before it is optimised."""

from __future__ import annotations

import sys
from pathlib import Path

from hirc.compiler.cpu_device.retarget import RetargetOptions, retarget
from hirc.compiler.ir_text import IrText
from hirc.compiler.llvm_ir import LlvmModule, device_machine
from hirc.compiler.target import CPU

if __name__ == "__main__":
    machine = device_machine(CPU.chip, 2)
    given = LlvmModule(Path(sys.argv[1]).read_text(), machine, name="given")
    given.verify()
    print(retarget(IrText.of(given.text()), (), RetargetOptions()))
