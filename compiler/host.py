"""The machines that host code is made for: those like this one, or of `--host`."""

from __future__ import annotations

import os

from ..dialects.records import dataclass

# LLVM's triples, by what `uname -m` calls the processor.
_TRIPLES = {"x86_64": "x86_64-pc-linux-gnu", "aarch64": "aarch64-unknown-linux-gnu"}


@dataclass(frozen=True)
class Host:
    """A kind of machine: Linux with GNU's C library, on x86-64 or AArch64.

    `processor` is what `uname -m` calls it. Where it is not native, what is built does not run on
    this machine.
    """

    processor: str
    is_native: bool = True

    @property
    def name(self) -> str:
        """What --host calls it."""
        return f"{self.processor}-linux-gnu"

    @property
    def triple(self) -> str:
        """LLVM's triple; "" for machines like this one, where LLVM knows it."""
        return "" if self.is_native else _TRIPLES[self.processor]

    @property
    def clang_flags(self) -> tuple[str, ...]:
        """What clang is told, besides what it does by itself."""
        return () if self.is_native else (f"--target={self.triple}",)


def _host(processor: str) -> Host:
    return Host(processor, processor == NATIVE.processor)


NATIVE = Host(os.uname().machine)
# What --host takes.
HOSTS = {host.name: host for host in map(_host, _TRIPLES)}
