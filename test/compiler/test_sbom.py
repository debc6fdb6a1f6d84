"""Bills of materials: parts are related to the output, and nothing is named that is not in it."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.driver import PROGRAM, Hirc, write


def _document(hirc: Hirc, path: Path) -> dict[str, Any]:
    return json.loads(hirc.succeeds("--describe", "--spdx", path).output)


def _related(document: dict[str, Any], kind: str) -> set[str]:
    """Returns the names of the packages at the other end of the output's relations of a kind."""
    names = {package["SPDXID"]: package["name"] for package in document["packages"]}
    output = document["packages"][0]["SPDXID"]
    found: set[str] = set()
    for relation in document["relationships"]:
        ends = [relation["spdxElementId"], relation["relatedSpdxElement"]]
        assert set(ends) <= {*names, "SPDXRef-DOCUMENT"}
        if relation["relationshipType"] == kind:
            found.update(names[each] for each in ends if each not in (output, "SPDXRef-DOCUMENT"))
    return found


@pytest.mark.parametrize(
    ("arch", "linked"),
    [
        ("cpu", {"hirc support library", "hirc CPU device", "NVIDIA libdevice"}),
        ("sm_80", {"hirc support library", "NVIDIA CUDA runtime, static", "NVIDIA libdevice"}),
    ],
)
def test_parts(arch: str, linked: set[str], hirc: Hirc, tmp_path: Path) -> None:
    source, output = write(tmp_path, "prog.mlir", PROGRAM), tmp_path / "prog"
    hirc.succeeds(source, f"--offload-arch={arch}", "-o", output)
    document = _document(hirc, output)
    (checksum,) = document["packages"][0]["checksums"]
    assert checksum["checksumValue"] == hashlib.sha256(output.read_bytes()).hexdigest()
    assert document["packages"][0]["primaryPackagePurpose"] == "APPLICATION"
    assert _related(document, "STATIC_LINK") == linked
    assert _related(document, "GENERATED_FROM") == {str(source)}
    assert {"hirc", "clang", "llvm"} <= _related(document, "BUILD_TOOL_OF")
    assert "libc.so.6" in _related(document, "DYNAMIC_LINK")
    licenses = {each["licenseId"] for each in document["hasExtractedLicensingInfos"]}
    used = {package["licenseDeclared"] for package in document["packages"]}
    assert licenses == {each for each in used if each.startswith("LicenseRef-")}
    identifiers = [package["SPDXID"] for package in document["packages"]]
    assert len(set(identifiers)) == len(identifiers)


def test_the_time_that_is_given(
    hirc: Hirc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, output = write(tmp_path, "prog.mlir", PROGRAM), tmp_path / "prog.o"
    hirc.succeeds(source, "--offload-arch=cpu", "--emit=object", "-o", output)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    document = _document(hirc, output)
    assert document["creationInfo"]["created"] == "1970-01-02T00:00:00Z"
    assert document == _document(hirc, output)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert "no number of seconds" in hirc.fails("--describe", "--spdx", output)


def test_a_file_of_others(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    source, output = write(tmp_path, "a.c", "int main(void) { return 0; }\n"), tmp_path / "a"
    subprocess.run([clang, source, "-o", output], check=True)
    assert "does not say what it was made of" in hirc.fails("--describe", "--spdx", output)
    assert "goes with --describe of one file" in hirc.fails("--spdx", output)
