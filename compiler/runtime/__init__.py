"""C sources of the support library: what a compiled host program calls besides CUDA and libc.

`hirc_runtime.h` is the interface; one subject a file behind it:

- `calls.c`: a call of a program, what it owns, and how a failure leaves it; `failure.c`: the
  calling thread's last message; `check.c`: the result of every CUDA call; `refuse.c`, `assert.c`:
  checks and assertions of the program's own
- `launch.c`, `shared_limit.c`: launches, and dynamic shared memory past the default limit
- `streams.c`: streams for asynchronous ops, and order between them; `named_streams.c`: those that
  programs name or number
- `device_memory.c`: memory of host programs' buffers; `memory_counts.c` counts it
- `memory.c`, `strided.c`, `zero.c`: strided copies, page-locking, zeros; `reshape.c`: strides of a
  view of other sizes
- `graphs.c`: programs recorded as device graphs; `graph_arguments.c`: what they were launched with;
  `graph_driver.c`: what they ask of the driver
- `gpu_trace.c`: what GPUs did, for HIRC_TRACE; `ranges.c`: programs and launches as NVTX's ranges
- `weights.c`, `weight_values.c`, `safetensors.c`: weights, and where their values come from;
  `state.c`: what a program keeps from call to call
- `tensor_map.c`: descriptors for the tensor memory accelerator
- `driver.c`: finds functions of NVIDIA's driver
- `matmul*.c`: matrix products by cuBLASLt, which is loaded when the first one runs
- `convolution*.c`: convolutions by cuDNN, likewise
- `loaded_library.c`: libraries that are loaded when they are first needed: cuBLASLt, cuDNN, NCCL
- `communicate.c`, `nccl_library.c`: communication between the devices of a team, `agreement.c`:
  whether they begin the same; `peer_memory.c`, `peer_device.c`: memory that a team shares;
  `peer_reach.c`: whether it can;
  `world*.c`: the processes that run a program together, free of CUDA
- `program_end.c`: the wait for the device that ends a program which used it
- `program.h`: programs with inputs and outputs, as add-program-interface describes them.
  `call_checks.c` sees that the caller's tensors are right, `input_errors.c` and
  `repeated_elements.c` find and say what is wrong with them,
  `library_exports.c` is what a library exports besides its programs, most of it by way of
  `program_devices.c`, `program_outputs.c` and `program_list.c`; `command*.c` is a program as a
  command, linked into executables whose entry is one
- `packed_call.c`: calls whose arguments come one by one; `ffi.c`: tvm-ffi's convention,
  `python_call.c`: functions of Python, for `hirc.load`, `python_tensors.c`: what they take and give
- `print.c`, `print_memref.c`, `memref_copy.c`: MLIR's runner functions, and `device_memref.c` those
  of its runtime for ROCm; the former, `calls.c`,
  `failure.c`, `ranges.c`, `refuse.c`, `assert.c`, `program_end.c`, `strided.c` and
  `matmul_shape.c` are free of CUDA

Each file is compiled by itself, `clang -std=c11 -O2 -fPIC -c -emit-llvm` (`-fPIC` because the same
bitcode goes into executables and shared libraries). What a host module needs of it is linked into
that module and made internal, so an object or bitcode file is complete with nothing but libc and
the CUDA runtime. Every translation unit thus carries copies of the functions, and state follows
one of two rules:

- a cache may exist more than once: it is `static`;
- the pools of `streams.c`, what `program_end.c` waits for, what teams share, the functions of
  NVTX's tool and the calling thread's call must exist once in a linked file: they are weak and
  hidden, named `hirc_state_*`, and keep their linkage when the functions around them are made
  internal.

There is no global constructor and no CUDA header, and two thread-local variables, pointers: to the
calling thread's last message, and to the call that it is in.
"""
