"""lit's shell tests, in a checkout whose path may hold spaces."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import lit.formats
import lit.TestRunner


class QuotedShellTest(lit.formats.ShTest):
    """A shell test whose %s, %S, %t and %T are written as the shell needs them."""

    def execute(self, test: Any, litConfig: Any) -> Any:
        folder, base = lit.TestRunner.getTempPaths(test)
        source = Path(test.getSourcePath())
        paths = {"%s": source, "%S": source.parent, "%t": f"{base}.tmp", "%T": folder}
        self.extra_substitutions = [(name, shlex.quote(str(path))) for name, path in paths.items()]
        return super().execute(test, litConfig)
