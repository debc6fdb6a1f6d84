"""How a program becomes files: the driver and what it stands on.

In the order data passes through: `options` and `target` (what is wanted), `toolchain` (what there
is to do it with), `session` (contexts, sources, diagnostics), `translate` and `gate` (MLIR to
LLVM 22), `device_code` and `host_code` (to bitcode), `offload_binary` and `offload_annotations`
(device code inside the host module) or `cpu_device` (device code as code of the host), `link`
(clang), `driver` (all of it).
"""
