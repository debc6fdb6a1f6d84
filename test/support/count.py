"""Prints how many tests passed and failed in all, from what lit and pytest recorded.

    python count.py lit.json pytest.xml

The last line is `N passed, N failed`, with `, N skipped` when some were. The status is 1 when a
test failed, when a record is missing (its run died), or when nothing ran.
"""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

_LIT_PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
_LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def count_lit(record: Path) -> Counter[str]:
    """Counts lit's results; a code that is neither passed nor skipped has failed."""
    counts: Counter[str] = Counter()
    for test in json.loads(record.read_text())["tests"]:
        if test["code"] in _LIT_PASSED:
            counts["passed"] += 1
        elif test["code"] in _LIT_SKIPPED:
            counts["skipped"] += 1
        else:
            counts["failed"] += 1
    return counts


def count_pytest(record: Path) -> Counter[str]:
    """Counts pytest's results; a test that passed but broke in its teardown has failed."""
    counts: Counter[str] = Counter()
    for case in ElementTree.parse(record).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            counts["failed"] += 1
        elif "skipped" in kinds:
            counts["skipped"] += 1
        else:
            counts["passed"] += 1
    return counts


def main(arguments: list[str]) -> int:
    lit, pytest = (Path(argument) for argument in arguments)
    counts: Counter[str] = Counter()
    complete = True
    for record, count in ((lit, count_lit), (pytest, count_pytest)):
        if record.is_file():
            counts += count(record)
        else:
            print(f"no record of a test run: {record}", file=sys.stderr)
            complete = False
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 0 if complete and counts["passed"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
