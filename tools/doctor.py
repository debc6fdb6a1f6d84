"""hirc --doctor: what a build needs, one line each, and how to get what is missing."""

from __future__ import annotations

from .. import __version__
from ..compiler.checkup import Finding, State, findings, trial_builds
from ..compiler.options import Options

_NAME_WIDTH, _VERSION_WIDTH = 23, 12


def print_doctor(options: Options) -> int:
    """Prints what is found where. Returns 0 if everything a build needs is there, else 1."""
    print(f"hirc {__version__}")
    missing: list[str] = []

    def show(finding: Finding) -> None:
        print(_line(finding), flush=True)
        if finding.state is State.MISSING:
            missing.append(finding.name.strip())

    for finding in findings(options):
        show(finding)
    if not missing:
        for finding in trial_builds(options):
            show(finding)
    if missing:
        print(f"a build here would fail: {', '.join(missing)}")
        return 1
    print("everything a build needs is here")
    return 0


def _line(finding: Finding) -> str:
    shown = {
        State.FOUND: finding.version,
        State.MISSING: "MISSING",
        State.NOT_NEEDED: "none",
    }[finding.state]
    detail = finding.detail
    if finding.state is State.MISSING and finding.version:
        detail = f"{finding.version}: {detail}"
    if finding.hint:
        detail = f"{detail}; {finding.hint}"
    return f"{finding.name:{_NAME_WIDTH}}{shown:{_VERSION_WIDTH}}{detail}".rstrip()
