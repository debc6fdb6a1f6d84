"""The first LLVM version that parses each construct the producer may print.

Constructs at or below `OLDEST` need no rewrite; they are listed so that supporting an older
consumer starts from facts. Where the change landed too close to a release to tell which one took
it, the later version stands: the older spelling is valid in both.
"""

from __future__ import annotations

OLDEST = 22

FIRST_VERSION: dict[str, int] = {
    "or disjoint": 18,
    "writable": 18,
    "splat": 18,
    "zext nneg": 18,
    "#dbg_value": 19,
    "getelementptr nuw and nusw": 19,
    "initializes": 19,
    "expected branch weights": 19,
    "llvm.scmp and llvm.ucmp": 19,
    "range attribute": 19,
    "trunc nuw and nsw": 19,
    "uitofp nneg": 19,
    "va_start of an address space": 19,
    "captures": 20,
    "fast-math flags on fptrunc and fpext": 20,
    "icmp samesign": 20,
    "dead_on_return": 21,
    "memory(errnomem)": 21,
    "lifetime markers without a size": 22,
    "memory(target_mem0)": 22,
    "nocreateundeforpoison": 22,
    "ptrtoaddr": 22,
    "atomicrmw fmaximumnum and fminimumnum": 23,
    "atomicrmw elementwise": 23,
    "byte types": 23,
    "dead_on_return with a size": 23,
    "denormal_fpenv": 23,
    "DICompileUnit dialect": 23,
    "fast-math flags on uitofp and sitofp": 23,
    "flatten": 23,
    "module asm blocks": 23,
    "module asm properties": 23,
    "noipa": 23,
    "nooutline": 23,
    "prefalign": 23,
    "rounded floating-point literals": 23,
    "atomic load and store elementwise": 24,
    "atomicrmw on integer vectors": 24,
    "atomicrmw xchg on vectors": 24,
    "cp.async.bulk.tensor.reduce with an operand": 24,
    "memory(target_mem)": 24,
}
