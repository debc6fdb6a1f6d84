"""The interpreter: Host IR over torch tensors, op by op, with every check on.

It is what compiled programs are compared with: slow, and obvious. In the order a run goes:

- `program_text` parses, `outline` reads what a program declares, `inputs` and `outputs` check
  what the caller gives, `interpreter` ties them together
- `frame` is a program while it runs; `operations/` has one function an operation, found through
  `registry`; `checks` is what must hold at the end
- `memory`, `buffer`, `streams`: what values are; `team`: the runs of several devices at once
- `dtypes`, `convert`, `unary_kinds`, `binary_kinds`, `reduce_kinds`, `shapes`, `scalar_numbers`:
  what is computed

torch is imported here alone. An operation on memory that is freed, overlaps, or was never written
is an error that names the operation and the memory. Kernels (hir.launch) are the exception: they
are compiled, and what they are handed counts as written.
"""

from .interpreter import Interpreter, interpret, interpret_team
from .memory import Counts

__all__ = ["Counts", "Interpreter", "interpret", "interpret_team"]
