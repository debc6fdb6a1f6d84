"""The CPU device: runs a GPU program's own device code on the host's processor.

`code` turns the device code of one translation unit into code of the host, `build` compiles the C
that it needs. docs/architecture.md has the whole picture; docs/cpu-device.md is for users. In the
order data passes through:

- `inlining`, `ptx_functions`, `inline_ptx/`: inline PTX becomes IR, functions that stop become part
  of the kernels that call them
- `device_ir`, on `llvm_text` and the compiler's `ir_text`: the module in parts; `retarget` takes it
  through the rest
- `instrument`, `accesses`: the calls that --check asks for
- `yields`, `numerics`, `shared_memory`, `shared_addresses`, `address_spaces`, `constants`,
  `prologue`, `signatures`: what one thread does, in the host's terms
- `lower_calls`, on `intrinsics`, `special_registers`, `stop_calls`, `operations/` and `refusals`:
  what each call becomes, a C function or a stop, or why it cannot be done
- `stops`, `liveness`, `kernel_stack`, `slots`, `regions`, `region_writer`, `thread_memory`,
  `region_functions`: a kernel becomes a function for each state, which runs a range of a block's
  threads to their next stops
- `kernel_table`: what the engine must know of each kernel

`calls`, `phis`, `control_flow`, `debug_info`, `metadata`, `result_types` and `block_layout` serve
several of these. `packed` writes the library's functions that C cannot.

The C beside it is compiled by the clang that was found and kept in the cache.

`library/` is what one thread computes: functions named after their intrinsics, linked into device
code as bitcode, made internal and inlined. No function of it has state, waits, or knows another
thread; `block.c` reads the running block. `rounding.h` and `half_rounding.h` round, one file a kind
of operation does the rest.

`runtime/` becomes one object file of hidden functions. `device_abi.h` is what it shares with
generated code, `execution.h` what the engine and the streams share. From the program down:

- the calls, whose names and values are in `cuda_abi.h`: `device.c`, `device_properties.c`,
  `functions.c`, `launch.c`, `stream_calls.c`, `events.c`, `copy_calls.c`, `fills.c`, `memory.c`,
  `memory_pool.c`, `capture_calls.c`, `graphs.c`, `kernel_nodes.c`, `entry_points.c`;
  `errors.c`, `error_texts.c`
- what the program brings: `registrar.c`, `registration.c`, `wide_regions.c`
- memory: `allocation.c` and `spans.c`, `ordered_memory.c`, `copies.c`, `device_heap.c`
- order: `stream.c` (a queue of commands), `streams.c`, `command_nodes.c`, `capture.c`
- the engine: `pool.c` and `threads.c`, `engine.c` (a grid), `clusters.c` (their memory),
  `block.c` (a cluster from stop to stop), `warps.c`, `barriers.c`, `shared_arena.c`;
  `quiet.c`, `divergence.c`, `faults.c` for what goes wrong; `device_printf.c`
- `operations/`: performers of stops, and the asynchronous copies
- `checks/`: what instrumented code calls, and the shadow of a checked program's memory
"""
