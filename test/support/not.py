"""Succeeds when a command fails the way a command should: `not hirc bad.mlir`.

    python not.py [--crash] command...

A death by a signal, a Python traceback and hirc's status for bugs of its own are no proper failure:
each fails the test, unless --crash asks for one of them. Output is passed through.
"""

import subprocess
import sys

_BUG = 70
_TRACEBACK = b"Traceback (most recent call last)"


def main(arguments: list[str]) -> int:
    crash_wanted = arguments[:1] == ["--crash"]
    command = arguments[1:] if crash_wanted else arguments
    traceback = False
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        for line in process.stderr:
            traceback |= _TRACEBACK in line
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()
    # Above 128 is how a shell reports a signal.
    crashed = traceback or process.returncode < 0 or process.returncode > 128
    crashed = crashed or process.returncode == _BUG
    if crashed != crash_wanted:
        found = "a traceback" if traceback else f"status {process.returncode}"
        wanted = "a crash" if crash_wanted else "an error status without a crash"
        print(f"not: expected {wanted}, got {found}: {command}", file=sys.stderr)
        return 1
    return 0 if crashed or process.returncode != 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
