"""Linking for an older GNU C library than this machine's (`--glibc=2.28`).

`stand_ins.py` makes libraries that have that release's symbols and no code. Linked with, they leave
the versions in the output that the old library has. `start.c` begins an executable as that library
expects, `newer_calls.c` has functions that newer headers call and it lacks.
"""
