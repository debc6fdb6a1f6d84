"""The functions, structs and error texts are those of CUDA 13's own headers and library."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

from hirc.compiler.toolchain import find_clang, find_cuda

_HERE = Path(__file__).parent
_RUNTIME = Path(__file__).parents[4] / "compiler" / "cpu_device" / "runtime"
_TO_TEXT = ("-O0", "-S", "-emit-llvm", "-o", "-")
# What says nothing about how a value is passed.
_IRRELEVANT = re.compile(r"\b(noundef|align \d+)\b|%\S+$")


def _clang(*arguments: str | Path, text: str | None = None) -> str:
    done = subprocess.run(
        [find_clang().path, *arguments], input=text, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _split(parameters: str) -> list[str]:
    """Splits at the commas that are in no brackets."""
    parts, depth = [""], 0
    for character in parameters:
        depth += (character in "({") - (character in ")}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts if parameters else []


def _signatures(ir: str, keyword: str) -> dict[str, tuple[str, ...]]:
    """The result and the parameters of each function that is declared or defined, as passed."""
    found: dict[str, tuple[str, ...]] = {}
    for match in re.finditer(rf"^{keyword} (.*?)@(\w+)\((.*)\)", ir, re.MULTILINE):
        result, name, parameters = match.groups()
        texts = (_IRRELEVANT.sub("", text.strip()) for text in _split(parameters))
        passed = (re.sub(r"byval\(%[\w.]+\)", "byval", text) for text in texts)
        found[name] = (result.split()[-1], *(" ".join(text.split()) for text in passed))
    return found


def test_functions_are_passed_what_cuda_passes() -> None:
    headers = find_cuda().root / "include"
    declarations = (headers / "cuda_runtime_api.h").read_text()
    ours: dict[str, tuple[str, ...]] = {}
    for source in sorted(_RUNTIME.glob("*.c")):
        ours |= _signatures(_clang("-std=gnu11", *_TO_TEXT, source), "define")
    names = sorted(ours.keys() & set(re.findall(r"\b(\w+)\(", declarations)))
    assert len(names) > 120
    pointers = ", ".join(f"(void *){name}" for name in names)
    program = f"#include <cuda_runtime_api.h>\nvoid *functions[] = {{{pointers}}};\n"
    ir = _clang("-x", "c", f"-I{headers}", *_TO_TEXT, "-", text=program)
    theirs = _signatures(ir, "declare")
    assert {name: ours[name] for name in names} == {name: theirs[name] for name in names}


def test_structs_and_numbers_are_those_of_cuda() -> None:
    headers = find_cuda().root / "include"
    for name in ("layouts.c", "driver_layouts.c"):
        _clang("-fsyntax-only", f"-I{_RUNTIME}", f"-I{headers}", _HERE / name)


def _texts(library: ctypes.CDLL, codes: range) -> list[tuple[int, bytes, bytes]]:
    name, text = library["cudaGetErrorName"], library["cudaGetErrorString"]
    name.restype = text.restype = ctypes.c_char_p
    return [(code, name(code), text(code)) for code in codes]


def test_errors_have_their_names_and_texts(tmp_path: Path) -> None:
    theirs = sorted(find_cuda().libraries.glob("libcudart.so*"))
    if not theirs:
        pytest.skip("no shared CUDA runtime to compare with")
    library = tmp_path / "texts.so"
    _clang("-shared", "-fPIC", "-o", library, _RUNTIME / "error_texts.c")
    codes = range(-1, 10002)
    assert _texts(ctypes.CDLL(str(library)), codes) == _texts(ctypes.CDLL(str(theirs[0])), codes)
