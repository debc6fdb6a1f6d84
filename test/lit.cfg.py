"""lit's configuration: which files are tests, and the commands that their RUN lines name.

hirc, hirc-opt and FileCheck, the pip package's, are run by one process that has loaded them
(support/command_server.py). `not` also fails where the command crashes (support/not.py). %clang is
the clang that setup found.
"""

# lit defines `config` and `lit_config` before it runs this file.
# pyright: reportUndefinedVariable=false

import os
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from support.command_server import served
from support.environment import ROOT, without_toolkit
from support.quoted_shell_test import QuotedShellTest


def command(*words: object) -> str:
    """A command as a RUN line writes it."""
    return shlex.join(str(word) for word in words)


config.name = "hirc"
config.test_format = QuotedShellTest()
config.suffixes = [".mlir", ".test"]
# The programs are built and run by pytest.
config.excludes = ["Inputs", "support", "programs", "failures"]
config.test_source_root = str(ROOT / "test")
config.test_exec_root = str(ROOT / "build" / "lit")

config.environment = without_toolkit(config.environment)
clang = os.environ.get("HIRC_CLANG", "clang-22")
if "HIRC_CLANG" in os.environ:
    config.environment["HIRC_CLANG"] = clang
commands = [str(served(clang)), config.environment["PATH"]]
config.environment["PATH"] = os.pathsep.join(commands)


# Words that stand alone, so that no path and no option that contains one is rewritten.
config.substitutions += [
    (
        r"(?<![\w./=-])not(?= )",
        command(sys.executable, "-S", "-E", ROOT / "test/support/not.py"),
    ),
    ("%clang", command(clang)),
    ("%python", command(sys.executable)),
]
