"""Host IR of the consumer's LLVM for an older one: what a clang before 22 reads as text.

Host code is ordinary C's, after LLVM's optimiser: what came after clang 16 are attributes and flags
that say more of a value than the instruction does, which may be dropped, and a few other spellings.
What is no such thing is refused. The clang in question reads it in the tests.
"""

from __future__ import annotations

import re

from ..ir_text import IrText
from .error import GateError
from .versions import FIRST_VERSION

# Intrinsics parse as functions where they are not known, and fail in the link.
_FIRST_OF_INTRINSIC = {
    **dict.fromkeys(("frexp", "ldexp"), 17),
    "exp10": 18,
    **dict.fromkeys(("tan", "acos", "asin", "atan", "cosh", "sinh", "tanh"), 19),
    **dict.fromkeys(("atan2", "maximumnum", "minimumnum", "sincos"), 20),
    **dict.fromkeys(("modf", "sincospi"), 21),
    "vector.partial.reduce.add": 22,
}
_INTRINSIC = re.compile(r"^declare .*@llvm\.([a-z_][\w.]*?)(?:\.[vfip]\w*)*\(.*$", re.MULTILINE)
# Three-way comparison, and variable arguments by their own names.
_COMPARED = (
    r"^(\s*)%([\w.$-]+) = (?:tail )?call [^@\n]*?(i\d+) @llvm\.([su])cmp\.\w+\.\w+"
    r"\((i\d+) (?:[a-z]+ )*(\S+), i\d+ (?:[a-z]+ )*(\S+)\).*$"
)
_COMPARISON = r"""\1%older.\2.over = icmp \4gt \5 \6, \7
\1%older.\2.under = icmp \4lt \5 \6, \7
\1%older.\2.plus = zext i1 %older.\2.over to \3
\1%older.\2.minus = zext i1 %older.\2.under to \3
\1%\2 = sub \3 %older.\2.plus, %older.\2.minus"""
# By construct of `versions`: the pattern, and the older spelling.
_REWRITES = {
    "nocreateundeforpoison": (r"\bnocreateundeforpoison ?", ""),
    "memory(target_mem0)": (r", target_mem\d: \w+(?=[,)])|\btarget_mem\d: \w+, ", ""),
    "memory(errnomem)": (r", errnomem: \w+(?=[,)])|\berrnomem: \w+, ", ""),
    "dead_on_return": (r" dead_on_return\b", ""),
    "captures": (r"\bcaptures\(none\)", "nocapture"),
    "icmp samesign": (r"\bicmp samesign ", "icmp "),
    "range attribute": (r"\brange\(i\d+ -?\d+, -?\d+\) ", ""),
    "initializes": (r" initializes\((?:[^()]|\([^()]*\))*\)", ""),
    "getelementptr nuw and nusw": (
        r"\bgetelementptr( inbounds)?(?: (?:nuw|nusw))+",
        r"getelementptr\1",
    ),
    "trunc nuw and nsw": (r"\btrunc(?: (?:nuw|nsw))+ ", "trunc "),
    "uitofp nneg": (r"\buitofp nneg ", "uitofp "),
    "#dbg_value": (r"^\s*#dbg_\w+\(.*\)$", ""),
    "llvm.scmp and llvm.ucmp": (_COMPARED, _COMPARISON),
    "va_start of an address space": (r"@llvm\.va_(start|end|copy)\.p0\b", r"@llvm.va_\1"),
    "zext nneg": (r"\bzext nneg ", "zext "),
    "or disjoint": (r"\bor disjoint ", "or "),
    "writable": (r" (?:writable|dead_on_unwind)\b", ""),
}
# What else a parameter's address may become: nothing older says it.
_OTHER_CAPTURES = r" ?\bcaptures\([^()]*\)"
# Lifetime markers told the size once; -1 is any.
_LIFETIME = r"(@llvm\.lifetime\.(?:start|end)\.p0\()(ptr)"
# A vector of equal elements; of what type, the line says before it.
_SPLAT = re.compile(r"\bsplat \((\w+) ([^()]*)\)")
# What has no older spelling.
_REFUSED = {"ptrtoaddr": r"^.*\bptrtoaddr\b.*$"}
# The x86-64 data layout names i128 from here on.
_I128_ALIGNED = 18


def to_older(text: str, consumer: int) -> str:
    """Returns the module's text for LLVM `consumer`. Raises GateError for what that cannot say."""
    ir = IrText.of(text)
    for construct, (pattern, older) in _REWRITES.items():
        if consumer < FIRST_VERSION[construct]:
            ir = ir.sub(pattern, older)
    if consumer < FIRST_VERSION["captures"]:
        ir = ir.sub(_OTHER_CAPTURES, "")
    if consumer < FIRST_VERSION["lifetime markers without a size"]:
        ir = ir.sub(rf"^(declare .*){_LIFETIME}", r"\1\2i64, \3")
        ir = ir.sub(rf"^(\s.*){_LIFETIME}", r"\1\2i64 -1, \3")
    expected = ir.strings.find("expected")
    if consumer < FIRST_VERSION["expected branch weights"] and expected is not None:
        ir = ir.sub(rf"(?<=, )!{expected}, (?=i32 )", "")
    if consumer < FIRST_VERSION["splat"]:
        ir = ir.sub(r"^.*\bsplat \(.*$", lambda line: _without_splats(line[0], consumer))
    for declared in _INTRINSIC.finditer(ir.code):
        since = _FIRST_OF_INTRINSIC.get(declared[1], 0)
        if consumer < since:
            raise GateError(f"llvm.{declared[1]}", since, consumer, declared[0])
    for construct, pattern in _REFUSED.items():
        found = re.search(pattern, ir.code, re.MULTILINE)
        if consumer < FIRST_VERSION[construct] and found is not None:
            raise GateError(construct, FIRST_VERSION[construct], consumer, found[0])
    whole = ir.whole()
    if consumer < _I128_ALIGNED:
        whole = re.sub(
            r'^(target datalayout = ".*)-i128:128', r"\1", whole, count=1, flags=re.MULTILINE
        )
    return whole


def _without_splats(line: str, consumer: int) -> str:
    while (found := _SPLAT.search(line)) is not None:
        element, value = found.groups()
        sizes = re.findall(rf"<(\d+) x {re.escape(element)}>", line[: found.start()])
        if not sizes:
            raise GateError("splat", FIRST_VERSION["splat"], consumer, line)
        elements = ", ".join([f"{element} {value}"] * int(sizes[-1]))
        line = f"{line[: found.start()]}<{elements}>{line[found.end() :]}"
    return line
