"""The schedules that take every operation: one thread an element of the outputs."""

# Marks a linalg.generic on buffers that no other schedule is to take.
GENERAL = "hir.general_schedule"
