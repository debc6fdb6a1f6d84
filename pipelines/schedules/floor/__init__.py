"""The schedules that take every operation: one thread an element of the outputs."""
