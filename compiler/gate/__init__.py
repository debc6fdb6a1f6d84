"""The gate between two LLVM versions: assembly of MLIR's LLVM, made readable to an older one.

MLIR's bindings print LLVM 24 assembly; llvmlite and the clang that links are older. LLVM promises
neither that text stays readable nor that a newer version's text can be read at all. `to_consumer`
rewrites what differs to the older spelling of the same meaning, and refuses with `GateError` what
the older version cannot say. `versions` names every such construct and the first version that takes
it. Each other module holds the rewrites of one kind of construct.

Where the table comes from: every construct was printed by the producer's LLVM and parsed by LLVM
22.1; the test suite repeats that. First versions between 22 and the producer's are those of the
upstream changes.
"""

from .error import GateError
from .intrinsics import unknown_intrinsics
from .scan import to_consumer

__all__ = ["GateError", "to_consumer", "unknown_intrinsics"]
