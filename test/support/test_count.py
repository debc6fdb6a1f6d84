"""The counting line at the end of `make check`: from records that lit and pytest wrote."""

import subprocess
import sys
from pathlib import Path

_COUNT = Path(__file__).with_name("count.py")

_PYTEST_PASSED = "def test_good(): pass\n"
_PYTEST_MIXED = """
import pytest
def test_good(): pass
def test_bad(): assert False
@pytest.mark.skip
def test_left_out(): pass
@pytest.fixture
def broken():
    yield
    raise ValueError
def test_breaks_afterwards(broken): pass
"""
_LIT_PASSED = {"good.test": "# RUN: true\n"}
_LIT_MIXED = {
    **_LIT_PASSED,
    "bad.test": "# RUN: false\n",
    "empty.test": "nothing to run\n",
    "elsewhere.test": "# REQUIRES: nothing-has-this\n# RUN: true\n",
}


def record(folder: Path, lit_tests: dict[str, str], pytest_tests: str) -> tuple[Path, Path]:
    """Runs lit and pytest on small suites; returns their records."""
    suite = folder / "suite"
    suite.mkdir()
    (suite / "lit.cfg.py").write_text(
        "import lit.formats\nconfig.name = 'small'\nconfig.suffixes = ['.test']\n"
        "config.test_format = lit.formats.ShTest()\n"
    )
    for name, text in lit_tests.items():
        (suite / name).write_text(text)
    (suite / "test_small.py").write_text(pytest_tests)
    records = folder / "lit.json", folder / "pytest.xml"
    lit = Path(sys.executable).with_name("lit")
    run(str(lit), "--quiet", "--output", str(records[0]), str(suite))
    options = ["-p", "no:cacheprovider", "--rootdir", str(suite), "--junit-xml", str(records[1])]
    run(sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", *options, str(suite))
    return records


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def count(*records: Path) -> tuple[int, str]:
    done = run(sys.executable, str(_COUNT), *map(str, records))
    return done.returncode, done.stdout.splitlines()[-1]


def test_all_passed(tmp_path: Path) -> None:
    assert count(*record(tmp_path, _LIT_PASSED, _PYTEST_PASSED)) == (0, "2 passed, 0 failed")


def test_failures_errors_and_skips_are_told_apart(tmp_path: Path) -> None:
    found = count(*record(tmp_path, _LIT_MIXED, _PYTEST_MIXED))
    # lit: one passes, two fail (one has nothing to run); pytest: one passes, two fail.
    assert found == (1, "2 passed, 4 failed, 2 skipped")


def test_a_missing_record_fails(tmp_path: Path) -> None:
    lit, pytest = record(tmp_path, _LIT_PASSED, _PYTEST_PASSED)
    pytest.unlink()
    assert count(lit, pytest) == (1, "1 passed, 0 failed")
