// What generated device code, the operations it stops at, and the engine that runs it share.
//
// A kernel is compiled to *regions*: functions that run a range of a block's threads, one after
// another, from one *state* to the next *stop*. A stop is an operation that involves other threads
// (a barrier, a shuffle) or waits for something. State 0 is the kernel's beginning; state n > 0 is
// what follows stop n. The engine performs a stop once the threads that it needs are there.
//
// Everything a thread must remember over a stop is in the block's frame, everything a stop takes
// and gives is in its exchange. Both are arrays over the block's threads: an entry of B bytes at
// offset F (bytes per thread) lies, for thread t, at base + F * padded_threads + t * B.
#ifndef HIRC_DEVICE_ABI_H
#define HIRC_DEVICE_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A warp of NVIDIA's, and the widest wavefront of AMD's.
enum { HIRC_WARP_SIZE = 32, HIRC_MAX_LANES = 64, HIRC_MAX_THREADS = 1024 };

// Lanes of a warp or a wavefront, a bit each.
typedef uint64_t hirc_lane_set;

static inline hirc_lane_set hirc_lane_bit(uint32_t lane) {
  return UINT64_C(1) << lane;
}

// The lowest lane of a set that has one.
static inline uint32_t hirc_lowest_lane(hirc_lane_set lanes) {
  return (uint32_t)__builtin_ctzll(lanes);
}

struct hirc_extent {
  uint32_t x, y, z;
};

// What AMD's kernels are given besides their arguments: the beginning of the hidden arguments of code
// objects of version 5 (LLVM's "User Guide for AMDGPU Backend"). All blocks are whole.
struct hirc_hidden_arguments {
  uint32_t blocks[3];
  uint16_t size[3];
  uint16_t remainder[3];
  uint8_t reserved[40];
  uint16_t dimensions; // at 64
  uint8_t more[190];
};

// One running block. Generated code reads the fields by their offsets (block_layout.py); the
// engine's own follow in a struct that begins with this one.
struct hirc_block {
  struct hirc_extent index;            //   0  %ctaid
  struct hirc_extent grid;             //  12  %nctaid
  struct hirc_extent size;             //  24  %ntid
  struct hirc_extent cluster_index;    //  36  %clusterid
  struct hirc_extent cluster_grid;     //  48  %nclusterid
  struct hirc_extent index_in_cluster; //  60  %cluster_ctaid
  struct hirc_extent cluster_size;     //  72  %cluster_nctaid
  uint32_t rank_in_cluster;            //  84  %cluster_ctarank
  uint32_t blocks_in_cluster;          //  88  %cluster_nctarank
  uint32_t dynamic_shared_bytes;       //  92  %dynamic_smem_size
  uint32_t threads;                    //  96  in the block
  uint32_t padded_threads;             // 100  rounded up to whole warps
  char *shared;                        // 104  static shared memory, then dynamic
  char *frames;                        // 112
  char *exchange;                      // 120
  uint16_t *next;                      // 128  the state each thread goes on from
  uint64_t grid_id;                    // 136  %gridid
  const struct hirc_kernel *kernel;    // 144
  struct hirc_block *const *cluster;   // 152  the cluster's blocks by rank
  uint32_t lanes;                      // 160  of a warp, or wavefront
  struct hirc_hidden_arguments hidden;
};

// Values of a region's result that are no state.
enum {
  HIRC_STATE_END = 0xffff, // the threads have returned
  HIRC_STATES_DIFFER = -1, // see `next`
};

// Runs threads first to last - 1 (numbered x first) from the region's state. Returns the state
// they all go on from, or HIRC_STATES_DIFFER; where its threads may go on from different states it
// has written each one's into `next`, otherwise it writes nothing there.
typedef int32_t hirc_region(struct hirc_block *block, void *const *arguments, uint32_t first,
                            uint32_t last);

enum hirc_stop_kind {
  // Performed for the threads of a warp that stand at the same stop and whose first operand, the
  // mask of lanes, is the same, once all lanes of the mask are there or have ended.
  HIRC_STOP_WARP = 1,
  // The same without a mask: for the lanes of a warp that stand here when no other lane of the
  // warp can go on.
  HIRC_STOP_CONVERGED = 2,
  // bar.sync: operands barrier (0 to 15) and number of threads (0: all of the block).
  HIRC_STOP_BARRIER = 3,
  // bar.red: operands barrier, number of threads, and an i1 predicate; parameter 0 is
  // hirc_barrier_reduction; the result is an i32.
  HIRC_STOP_BARRIER_REDUCE = 4,
  // barrier.cluster.wait.
  HIRC_STOP_CLUSTER_WAIT = 5,
  // A thread goes on as soon as `perform`, called for it alone, returns true.
  HIRC_STOP_POLL = 6,
  // Lets every other thread that can run do so once: nothing else.
  HIRC_STOP_YIELD = 7,
};

enum hirc_barrier_reduction { HIRC_REDUCE_POPC, HIRC_REDUCE_AND, HIRC_REDUCE_OR };

struct hirc_stop_call;

// Reads each lane's operands and writes its results, for the lanes whose bit is set in
// `call->lanes`. What it returns matters for HIRC_STOP_POLL only.
typedef bool hirc_perform(const struct hirc_stop_call *call);

// An operand or a field of the result.
struct hirc_slot {
  uint32_t offset; // bytes per thread before it in the exchange
  uint32_t bytes;  // of one thread's value; an i1 takes one byte, 0 or 1
  // Where all threads have the same value, known when the kernel was compiled: 64 of it. It has no
  // place in the exchange then. Otherwise NULL.
  const void *constant;
};

// One stop of a kernel. `slots` are the operands, then the fields of the result.
struct hirc_stop {
  uint32_t kind; // enum hirc_stop_kind
  uint32_t operand_count;
  uint32_t result_count;
  uint32_t parameter_count;
  const struct hirc_slot *slots;
  const int32_t *parameters; // constants of the operation: a shape, element types
  hirc_perform *perform;     // NULL for those the engine knows by itself
  const char *operation;     // its name, for messages: "bar.sync", "shfl.sync.bfly"
  const char *source;        // "file:line:column" or ""
};

// What `perform` is given: one warp's part of the exchange.
struct hirc_stop_call {
  struct hirc_block *block;
  const struct hirc_stop *stop;
  uint32_t first_thread; // the warp's lane 0
  hirc_lane_set lanes;   // those it is performed for
};

// The values of operand or result `slot` for all lanes, as an array of its type.
static inline void *hirc_lanes(const struct hirc_stop_call *call, uint32_t slot) {
  const struct hirc_slot *where = &call->stop->slots[slot];
  if (where->constant)
    return (void *)where->constant;
  return call->block->exchange + (size_t)where->offset * call->block->padded_threads +
         (size_t)where->bytes * call->first_thread;
}

struct hirc_argument {
  uint32_t bytes;
  uint32_t align;
};

enum {
  HIRC_KERNEL_WARP_STOPS = 1, // has stops of warps or of single threads, not of blocks alone
  HIRC_KERNEL_CHECKS_MEMORY = 2,
  HIRC_KERNEL_CHECKS_RACES = 4,
  HIRC_KERNEL_AMD = 8,     // is given hidden arguments
  HIRC_KERNEL_WIDE = 16,   // wavefronts of 64 lanes
};

// A variable in a block's shared memory.
struct hirc_shared_variable {
  const char *name;
  uint32_t offset;
  uint32_t bytes;
};

// A kernel, as generated code describes it. Lives in the section hirc_cpu_kernels, whose entries
// the registrar finds by name.
struct hirc_kernel {
  const char *name;   // the device symbol
  const char *source; // "file:line:column" or ""
  uint32_t flags;
  uint32_t state_count; // regions
  hirc_region *const *regions;
  const struct hirc_stop *stops; // state_count entries; that of state 0 is unused
  uint32_t argument_count;
  uint32_t static_shared_bytes;
  const struct hirc_argument *arguments;
  uint32_t frame_bytes;    // per thread
  uint32_t exchange_bytes; // per thread
  uint32_t max_threads;    // 0: what the device allows
  uint32_t min_blocks;
  struct hirc_extent required_block;   // 0: any
  struct hirc_extent required_cluster; // 0: none
  uint32_t local_bytes;                // stack of one thread, for cudaFuncGetAttributes
  uint32_t shared_align;               // of the static shared memory's beginning
  // The same regions for a processor with wider vectors (x86-64-v3), or NULL. At the program's start
  // they take the place of `regions`, which can be written then, where the processor is one.
  hirc_region *const *wide_regions;
  // Where the static shared variables lie, up to one without a name; NULL if memory is not checked.
  const struct hirc_shared_variable *shared_variables;
  // The name in messages: without what makes it unique in a program. NULL: the name itself.
  const char *title;
};

static inline const char *hirc_title(const struct hirc_kernel *kernel) {
  return kernel->title ? kernel->title : kernel->name;
}

// A variable of device code: section hirc_cpu_variables.
struct hirc_variable {
  const char *name;
  void *address;
  uint64_t bytes;
  uint32_t constant;
  uint32_t padding;
};

// --- what the runtime offers to generated code -------------------------------------------------

// Ends the kernel with a CUDA error (719: a trap); the block and all others stop.
_Noreturn void hirc_device_abort(struct hirc_block *block, uint32_t thread, int cuda_error);
// The same, with a message.
_Noreturn void hirc_device_fail(struct hirc_block *block, uint32_t thread, int cuda_error,
                                const char *what);
int hirc_device_printf(struct hirc_block *block, uint32_t thread, const char *format,
                       const void *arguments);
// Says that the assertion has failed, and returns: the caller ends the thread. The launch ends with
// error 710 when all other threads have ended.
void hirc_device_assert(struct hirc_block *block, uint32_t thread, const char *message,
                        const char *file, uint32_t line, const char *function);
// The same where the caller cannot end the thread: the launch ends at once.
_Noreturn void hirc_device_assert_all(struct hirc_block *block, uint32_t thread,
                                      const char *message, const char *file, uint32_t line,
                                      const char *function);
// The thread has seen this value on its way through a loop that waits: where it and all else stay
// the same, the loop does not end. A loop of which that cannot be said has an event each time.
void hirc_device_observe(struct hirc_block *block, uint32_t thread, uint64_t value);
void hirc_device_event(struct hirc_block *block, uint32_t thread);
// bar.arrive: counts the thread at a barrier (0 to 15) of `count` threads (0: all of the block).
void hirc_barrier_arrive(struct hirc_block *block, uint32_t thread, uint32_t barrier,
                         uint32_t count);
// barrier.cluster.arrive.
void hirc_cluster_arrive(struct hirc_block *block, uint32_t thread);
void *hirc_device_malloc(struct hirc_block *block, uint32_t thread, uint64_t bytes);
void hirc_device_free(struct hirc_block *block, uint32_t thread, void *pointer);

#endif
