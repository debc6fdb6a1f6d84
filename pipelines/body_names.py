"""The names of the functions that a host program's parts become, and of what a program keeps."""

BODY_PREFIX = "hirc_body_"
LAUNCHER_PREFIX = "hirc_"
# How Python calls the program: JSON, which only hirc.load reads (compiler/loader_calling.py).
CALLING = "hir.calling"
# Marks a function whose body is to stand where it is called, and nowhere else.
INLINED = "hir.inlined"
