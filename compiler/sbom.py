"""`hirc --describe --spdx`: what an output is made of, as a bill of materials (SPDX 2.3, JSON)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import __version__
from .describe import Description
from .errors import InputError
from .toolchain import source_date

_UNKNOWN = "NOASSERTION"
_HIRC_LICENSE = "Apache-2.0 WITH LLVM-exception"
# NVIDIA's terms allow the static runtime and libdevice to be given away as part of a program.
_NVIDIA_LICENSE = "LicenseRef-NVIDIA-CUDA-EULA"
_NVIDIA_TERMS = "https://docs.nvidia.com/cuda/eula/"
_OUTPUT = "SPDXRef-Output"
_PURPOSES = {"executable": "APPLICATION", "library": "LIBRARY"}


def spdx(found: Description) -> str:
    """Returns an SPDX document that describes a file and names what is in it, what it needs and
    what made it.

    It is what `hirc --describe` reads of the file: an object, archive or library that a user linked
    is not told apart. The time is SOURCE_DATE_EPOCH's where that is set. Raises InputError for a
    file that hirc did not make.
    """
    if not found.units:
        raise InputError(
            f"{found.file} does not say what it was made of",
            hint="--spdx is for what this hirc made",
        )
    digest = hashlib.sha256(Path(found.file).read_bytes()).hexdigest()
    name = Path(found.file).name
    packages, relations = [_package(_OUTPUT, name, "", _UNKNOWN)], [_describes()]
    packages[0]["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
    packages[0]["primaryPackagePurpose"] = _PURPOSES.get(found.kind, "OTHER")
    for place, (package, relation, is_reversed) in enumerate(_parts(found)):
        package["SPDXID"] = f"SPDXRef-{place + 1}"
        packages.append(package)
        ends = [_OUTPUT, package["SPDXID"]]
        first, second = reversed(ends) if is_reversed else ends
        relations.append(_relation(first, relation, second))
    licenses = _licenses(packages)
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"urn:sha256:{digest}",
        "creationInfo": {
            "created": _time(),
            "creators": [f"Tool: hirc-{__version__}"],
        },
        "packages": packages,
        **({"hasExtractedLicensingInfos": licenses} if licenses else {}),
        "relationships": relations,
    }
    return json.dumps(document, indent=2)


def _parts(found: Description) -> Iterator[tuple[dict[str, Any], str, bool]]:
    """Yields packages, how they relate to the output, and whether they are the subject of it."""
    versions: dict[str, str] = {}
    for unit in found.units:
        versions.update(unit["versions"])
        yield _package("", unit["source"], "", _UNKNOWN), "GENERATED_FROM", False
    maker = versions.pop("hirc", __version__)
    library = _package("", "hirc support library", maker, _HIRC_LICENSE)
    yield library, "STATIC_LINK", False
    if found.cpu_kernels:
        yield _package("", "hirc CPU device", maker, _HIRC_LICENSE), "STATIC_LINK", False
    if found.images:
        runtime = _package("", "NVIDIA CUDA runtime, static", "", _NVIDIA_LICENSE)
        yield runtime, "STATIC_LINK", False
    if found.images or found.cpu_kernels:
        functions = _package("", "NVIDIA libdevice", "", _NVIDIA_LICENSE)
        functions["comment"] = "The functions that device code calls, where it calls any."
        yield functions, "STATIC_LINK", False
    for needed in found.libraries:
        package = _package("", needed, "", _UNKNOWN)
        if needed.startswith("libc.so") and found.glibc:
            package["comment"] = f"glibc {found.glibc} or newer"
        yield package, "DYNAMIC_LINK", False
    yield _package("", "hirc", maker, _HIRC_LICENSE), "BUILD_TOOL_OF", True
    for tool, version in versions.items():
        yield _package("", tool, version, _HIRC_LICENSE), "BUILD_TOOL_OF", True


def _package(identifier: str, name: str, version: str, license_: str) -> dict[str, Any]:
    package: dict[str, Any] = {
        "name": name,
        "SPDXID": identifier,
        "downloadLocation": _UNKNOWN,
        "filesAnalyzed": False,
        "licenseConcluded": license_,
        "licenseDeclared": license_,
        "copyrightText": _UNKNOWN,
    }
    if version:
        package["versionInfo"] = version
    return package


def _relation(first: str, kind: str, second: str) -> dict[str, str]:
    return {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}


def _describes() -> dict[str, str]:
    return _relation("SPDXRef-DOCUMENT", "DESCRIBES", _OUTPUT)


def _licenses(packages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the licenses that are not in SPDX's list."""
    if all(package["licenseDeclared"] != _NVIDIA_LICENSE for package in packages):
        return []
    return [
        {
            "licenseId": _NVIDIA_LICENSE,
            "name": "CUDA Toolkit End User License Agreement",
            "extractedText": f"The terms are at {_NVIDIA_TERMS}",
            "seeAlsos": [_NVIDIA_TERMS],
        }
    ]


def _time() -> str:
    """Returns when the document is made, in UTC."""
    given = source_date()
    moment = datetime.now(UTC) if given is None else datetime.fromtimestamp(given, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
