"""The device's part of a link, without clang's linker wrapper: device code becomes machine code in
other processes while this one makes host code (`images.py`). Objects of it and of what registers it
with CUDA (`objects.py`, `registration.c`) go to the host's linker like any other.

The wrapper does one after the other, and starts two more programs of LLVM. The machine code is the
same: clang says what it runs for it. A link that is not done so, or fails, is clang's.
"""
