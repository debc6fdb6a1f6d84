"""Numbers of the metadata that generated code refers to, beyond any of the device module's own."""

EMPTY = 100_000_000
INDEPENDENT = EMPTY + 1
_INDEPENDENT_LOOP = EMPTY + 2
EXTENT_RANGE = EMPTY + 3
FIRST_LOOP = EMPTY + 10

INVARIANT = f"!invariant.load !{EMPTY}"
ACCESS_GROUP = f"!llvm.access.group !{INDEPENDENT}"
RANGE = f"!range !{EXTENT_RANGE}"
PARALLEL = f", !{_INDEPENDENT_LOOP}"

# INDEPENDENT is a group of accesses, and a loop with PARALLEL says that those of its iterations
# do not depend on one another.
DEFINITIONS = f"""\
!{EMPTY} = !{{}}
!{INDEPENDENT} = distinct !{{}}
!{_INDEPENDENT_LOOP} = !{{!"llvm.loop.parallel_accesses", !{INDEPENDENT}}}
!{EXTENT_RANGE} = !{{i32 1, i32 1025}}
"""
