// Programs as device graphs.
//
// The program's own code runs in every call; what it asks the support library for are steps. A call
// whose shapes were seen before is recorded: it runs on a stream that is captured, and each step is
// written down, a launch with its extents and its whole block of arguments. In the calls that follow
// the steps are compared instead of done. A launch that differs in extents or arguments changes its
// node of the graph; then the graph is launched into the caller's stream. So control flow, sizes and
// addresses are always those that the program computes now, and nothing of it is guessed. Where a
// step is another one, nothing has run yet, and the call begins anew: with the other graph of these
// shapes, or recording one. Two are kept, as outputs that callers drop late lie in two places in
// turn, and only launches can be changed. A recording that is replaced before it was worth its time
// was made in vain; after some of these there are no others in its place.
//
// Memory that the program allocates and frees is the graph's, and lies at the same place in each
// replay. Outputs are allocated in the caller's stream. Streams that the program names are the
// recording's own, so that no other call's work gets into it.
//
// Some graphs are kept for each program and device, the last ones used, with a limit on their memory.
// Shapes that have none of their own share some: a launch's extents and arguments are all that most
// programs make of a size. One thread at a time uses them; others, and calls in a stream that is
// captured itself, do without.
//
// What fails while recording or replaying is not reported: the call without a graph tells.

#include "graph_driver.h"
#include "cpu_device.h"
#include "current_device.h"
#include "graph_arguments.h"
#include "grow.h"
#include "hirc_runtime.h"
#include "memory_counts.h"
#include "program.h"
#include "ranges.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
  GRAPHS = 32,           // kept for each program and device
  ALIKE = 2,             // of them, for the same shapes, or for those that share
  SEEN = 64,             // shapes that are remembered until they come again
  CALLS_BEFORE = 2,      // calls without a graph: the first one loads and plans
  CHANGES_BEFORE = 16,   // calls of shapes without a graph, before these share one
  CALLS_OF_REST = 4096,  // of such shapes, once that was in vain
  MOST_OUTPUTS = 64,     // of a program that is recorded
  MOST_VAIN = 4,         // recordings in the same place in vain, after which it has none
  MOST_GROWN = 16,       // recordings with more memory, each of which was too small soon
  MOST_UNUSED = 16,      // graphs that went before they were replayed as often as they cost
  TURNS_FORGIVEN = 256,  // calls, after which one such graph is forgotten
  REPLAYS_WORTH = 16,    // a recording; each call that no graph was for takes one off
  MOST_WORTH = 64,       // replays that are counted
  FIRST_RUNTIME = 13000, // whose cudaStreamGetCaptureInfo has these parameters
};
// Of the memory that a recording keeps; programs that need more do not wait for the host.
#define MOST_BYTES ((size_t)256 << 20)
// Of the memory that a program's recordings on one device keep together.
#define MOST_KEPT ((size_t)2 << 30)
// Memory that shapes share grows to powers of two, beyond this by a quarter.
#define MOST_DOUBLED ((size_t)1 << 20)

enum { STREAM_PER_THREAD = 2 }; // the handle that is another stream in each thread

enum { ABANDONED = 2 }; // what longjmp brings, beside a failure's 1

struct step {
  enum hirc_step_kind kind;
  size_t start, bytes; // in the recording's bytes
  struct hirc_kernel_node kernel; // of a launch
};

struct block {
  void *memory;
  size_t bytes, needed; // it has, and its last allocation wanted
  void *stream;
  size_t allocation; // the last one that gave it
  bool is_ours;      // the program freed it
  bool is_free;
};

struct own_stream {
  enum hirc_stream_kind kind;
  int64_t number;
  const char *name;
  cuda_stream stream;
};

struct recording {
  uint64_t used; // the turn of its last call
  cuda_graph graph;
  cuda_graph_exec made;
  cuda_stream origin;
  cuda_stream launched_in; // the last one; `is_in_others` once there was another before
  unsigned long long first_id; // of the first one, whose handle may be another's later
  bool is_launched, is_in_others;
  struct step *steps;
  char *bytes;
  struct block *blocks;
  struct own_stream *streams;
  size_t step_count, step_room, byte_count, byte_room;
  size_t block_count, block_room, stream_count, stream_room;
  size_t kept_bytes;
  int64_t replays;
  int vain, grown; // recordings, see MOST_VAIN and MOST_GROWN
  // Of what shapes share: the bytes that allocations which are freed too were found to need.
  bool is_shared;
  size_t *needs;
  size_t need_count, need_room;
  // A call needed more memory than the recording has, or than any may keep.
  bool is_outgrown, is_exceeded;
  // Allocations that become the caller's, as far as that is known.
  size_t *given, given_count, given_room;
  bool gives; // an allocation is the caller's, another one in each replay
  struct kept_arguments arguments; // that the program computed the steps of, as they are now
};

struct seen {
  uint64_t key;
  int64_t calls;
};

// The recordings of a key.
struct alike {
  uint64_t key;
  int count;
  struct recording *found[ALIKE];
};

enum count { RECORDED, REPLAYED, UPDATED, ABANDONED_CALLS, REPEATED, COUNTS };

// The graphs of a program on one device.
struct device_graphs {
  atomic_bool is_taken; // by a thread, whose the rest is
  uint64_t turn;
  int unused;
  uint64_t forgiven; // the turn up to which they were forgotten
  int64_t changes; // calls of shapes without a graph
  struct recording *newest; // the one that was replayed last
  bool newest_first; // of graphs for the same shapes the last one used is to be tried first
  struct alike last; // found for the last call; key 0 where that no longer holds
  uint64_t keys[GRAPHS]; // of the recordings, 0: none
  struct recording recordings[GRAPHS + ALIKE]; // the last ones are what shapes share
  struct seen seen[SEEN];
  _Atomic int64_t counts[COUNTS];
};

// The graphs of a program, of which its unit has the pointer.
struct hirc_graphs {
  struct hirc_graphs *next;
  struct device_graphs *_Atomic on[MAX_DEVICES];
};

struct hirc_recorder {
  struct hirc_recorder_base base;
  struct device_graphs *graphs;
  struct recording *recording;
  struct hirc_call *call;
  cuda_stream stream; // the caller's
  size_t next;        // step
  size_t acquired;    // streams
  size_t allocations;
  int depth;          // of steps that are under way
  bool replays;
};

// State: see streams.c.
__attribute__((weak, visibility("hidden"))) struct hirc_graphs *_Atomic hirc_state_graphs_3;
// What is linked in may set another limit.
__attribute__((weak, visibility("hidden"))) size_t hirc_state_graph_memory_1 = MOST_KEPT;

// One thread at a time counts, others read.
static inline void count(struct device_graphs *graphs, enum count which) {
  _Atomic int64_t *counted = &graphs->counts[which];
  int64_t before = atomic_load_explicit(counted, memory_order_relaxed);
  atomic_store_explicit(counted, before + 1, memory_order_relaxed);
}

// How many graphs were recorded, how often one was replayed, how many nodes were changed for that,
// how many calls began anew, and how many replays were the last one's again.
void hirc_graphs_counted(int64_t counts[5]) {
  for (int i = 0; i < COUNTS; ++i)
    counts[i] = 0;
  const struct hirc_graphs *graphs = atomic_load(&hirc_state_graphs_3);
  for (; graphs; graphs = graphs->next)
    for (int device = 0; device < MAX_DEVICES; ++device) {
      const struct device_graphs *there = atomic_load(&graphs->on[device]);
      for (int i = 0; there && i < COUNTS; ++i)
        counts[i] += atomic_load_explicit(&there->counts[i], memory_order_relaxed);
    }
}

_Noreturn static void abandon(struct hirc_recorder *recorder) {
  longjmp(recorder->call->failed, ABANDONED);
}

// --- what is recorded ----------------------------------------------------------------------------

static void add_step(struct hirc_recorder *recorder, enum hirc_step_kind kind,
                     const struct hirc_part *parts, int part_count) {
  struct recording *recording = recorder->recording;
  size_t bytes = 0;
  for (int i = 0; i < part_count; ++i)
    bytes += parts[i].bytes;
  if (!grow((void **)&recording->steps, &recording->step_room, recording->step_count + 1,
            sizeof *recording->steps) ||
      !grow((void **)&recording->bytes, &recording->byte_room, recording->byte_count + bytes, 1))
    abandon(recorder);
  recording->steps[recording->step_count++] =
      (struct step){.kind = kind, .start = recording->byte_count, .bytes = bytes};
  for (int i = 0; i < part_count; ++i) {
    memcpy(recording->bytes + recording->byte_count, parts[i].start, parts[i].bytes);
    recording->byte_count += parts[i].bytes;
  }
}

// The step of a replay that comes now.
static struct step *next_step(struct hirc_recorder *recorder, enum hirc_step_kind kind,
                              size_t bytes) {
  struct recording *recording = recorder->recording;
  if (recorder->next == recording->step_count)
    abandon(recorder);
  struct step *step = &recording->steps[recorder->next++];
  if (step->kind != kind || step->bytes != bytes)
    abandon(recorder);
  return step;
}

static bool does(struct hirc_recorder *recorder, enum hirc_step_kind kind,
                     const struct hirc_part *parts, int part_count) {
  if (recorder->depth++ > 0)
    return false;
  if (!recorder->replays) {
    add_step(recorder, kind, parts, part_count);
    return false;
  }
  recorder->depth = 0;
  size_t bytes = 0;
  for (int i = 0; i < part_count; ++i)
    bytes += parts[i].bytes;
  const struct step *step = next_step(recorder, kind, bytes);
  const char *known = recorder->recording->bytes + step->start;
  for (int i = 0; i < part_count; known += parts[i++].bytes)
    if (memcmp(known, parts[i].start, parts[i].bytes) != 0)
      abandon(recorder);
  return true;
}

static void did(struct hirc_recorder *recorder) { --recorder->depth; }

// --- launches ------------------------------------------------------------------------------------

__attribute__((noinline)) static void update(struct hirc_recorder *recorder, struct step *step,
                                             char *known, const struct hirc_graph_launch *launch,
                                             void **arguments, const char *location) {
  // Whether all blocks of a larger grid, or larger blocks, can be there at once is found out when it
  // is launched.
  size_t fixed = launch->kinds & HIRC_LAUNCH_COOPERATIVE ? sizeof *launch
                                                         : offsetof(struct hirc_graph_launch, grid);
  if (memcmp(known, launch, fixed) != 0 || !step->kernel.node)
    abandon(recorder);
  hirc_raise_shared_limit(launch->stub, launch->dynamic_shared_bytes, location);
  if (!hirc_kernel_node_change(recorder->recording->made, &step->kernel, launch, arguments))
    abandon(recorder);
  memcpy(known, launch, sizeof *launch);
  if (step->bytes > sizeof *launch)
    memcpy(known + sizeof *launch, arguments[0], step->bytes - sizeof *launch);
  count(recorder->graphs, UPDATED);
}

static bool launches(struct hirc_recorder *recorder, const struct hirc_graph_launch *launch,
                         void **arguments, size_t bytes, const char *location) {
  if (!recorder->replays) {
    struct hirc_part parts[2] = {{launch, sizeof *launch}, {bytes ? arguments[0] : launch, bytes}};
    add_step(recorder, HIRC_STEP_LAUNCH, parts, 2);
    return false;
  }
  struct step *step = next_step(recorder, HIRC_STEP_LAUNCH, sizeof *launch + bytes);
  char *known = recorder->recording->bytes + step->start;
  if (memcmp(known, launch, sizeof *launch) != 0 ||
      (bytes && memcmp(known + sizeof *launch, arguments[0], bytes) != 0))
    update(recorder, step, known, launch, arguments, location);
  return true;
}

static void launched(struct hirc_recorder *recorder, void *stream) {
  struct recording *recording = recorder->recording;
  if (!hirc_kernel_node_find(&recording->steps[recording->step_count - 1].kernel, stream))
    abandon(recorder);
}

// --- memory --------------------------------------------------------------------------------------

// What is written down of an allocation: of which block it is.
struct allocation {
  void *stream;
  uint64_t block;
};

static struct block *find_block(struct recording *recording, const void *memory) {
  for (size_t i = recording->block_count; i-- > 0;)
    if (recording->blocks[i].memory == memory)
      return &recording->blocks[i];
  return NULL;
}

static void *reuse(struct hirc_recorder *recorder, size_t bytes, void *stream) {
  struct recording *recording = recorder->recording;
  for (size_t i = 0; i < recording->given_count; ++i)
    if (recording->given[i] == recorder->allocations)
      return NULL;
  for (size_t i = 0; i < recording->block_count; ++i) {
    struct block *block = &recording->blocks[i];
    if (!block->is_free || block->stream != stream || block->bytes < bytes ||
        block->bytes / 2 > bytes)
      continue;
    block->is_free = false;
    block->needed = bytes;
    block->allocation = recorder->allocations;
    if (recorder->depth == 0) {
      struct allocation made = {stream, i};
      struct hirc_part part = {&made, sizeof made};
      add_step(recorder, HIRC_STEP_ALLOCATE, &part, 1);
    }
    return block->memory;
  }
  return NULL;
}

// The bytes for an allocation of a recording: other shapes find room in memory that is larger than
// this one needs, and no smaller than earlier ones needed.
static size_t room_for(const struct hirc_recorder *recorder, size_t bytes) {
  const struct recording *recording = recorder->recording;
  size_t number = recorder->allocations - 1, room = 512;
  size_t before = number < recording->need_count ? recording->needs[number] : 0;
  if (before == 0 || bytes <= before)
    return before > bytes ? before : bytes;
  while (room < bytes && room < MOST_DOUBLED)
    room *= 2;
  return room < bytes ? bytes + bytes / 4 : room;
}

// Writes down what an allocation needed that the program has freed.
static void learn_need(struct recording *recording, const struct block *block) {
  size_t number = block->allocation - 1, known = recording->need_count;
  if (!grow((void **)&recording->needs, &recording->need_room, number + 1,
            sizeof *recording->needs))
    return;
  for (; known <= number; ++known)
    recording->needs[known] = 0;
  recording->need_count = known;
  if (recording->needs[number] < block->needed)
    recording->needs[number] = block->needed;
}

static void *memory_of(struct hirc_recorder *recorder, size_t *wanted_bytes, void **stream) {
  struct recording *recording = recorder->recording;
  void *wanted = *stream;
  size_t bytes = *wanted_bytes;
  if (recorder->replays) {
    struct allocation made;
    const struct step *step = next_step(recorder, HIRC_STEP_ALLOCATE, sizeof made);
    memcpy(&made, recording->bytes + step->start, sizeof made);
    const struct block *block = &recording->blocks[made.block];
    if (made.stream != wanted)
      abandon(recorder);
    if (block->is_ours && block->bytes < bytes) {
      recording->is_exceeded = bytes - block->bytes > MOST_BYTES - recording->kept_bytes;
      recording->is_outgrown = !recording->is_exceeded;
      abandon(recorder);
    }
    *stream = recorder->stream;
    return block->is_ours ? block->memory : NULL;
  }
  ++recorder->allocations;
  if (recording->is_shared)
    bytes = *wanted_bytes = room_for(recorder, bytes);
  void *memory = reuse(recorder, bytes, wanted);
  if (memory)
    return memory;
  if (!grow((void **)&recording->blocks, &recording->block_room, recording->block_count + 1,
            sizeof *recording->blocks))
    abandon(recorder);
  recording->blocks[recording->block_count] = (struct block){
      .needed = bytes, .stream = wanted, .allocation = recorder->allocations};
  if (recorder->depth == 0) {
    struct allocation made = {wanted, recording->block_count};
    struct hirc_part part = {&made, sizeof made};
    add_step(recorder, HIRC_STEP_ALLOCATE, &part, 1);
  }
  *stream = recorder->stream;
  return NULL;
}

static void allocated(struct hirc_recorder *recorder, void *memory, size_t bytes) {
  struct recording *recording = recorder->recording;
  if (recorder->replays)
    return;
  recording->blocks[recording->block_count].memory = memory;
  recording->blocks[recording->block_count++].bytes = bytes;
}

static void frees(struct hirc_recorder *recorder, void *memory) {
  if (recorder->replays) {
    const struct step *step = next_step(recorder, HIRC_STEP_FREE, sizeof memory);
    if (memcmp(recorder->recording->bytes + step->start, &memory, sizeof memory) != 0)
      abandon(recorder);
    return;
  }
  struct recording *recording = recorder->recording;
  struct block *block = find_block(recording, memory);
  if (!block || (!block->is_ours && block->bytes > MOST_BYTES - recording->kept_bytes)) {
    if (block && !recording->is_shared)
      recording->vain = MOST_VAIN;
    abandon(recorder);
  }
  if (recording->is_shared)
    learn_need(recording, block);
  if (recorder->depth == 0) {
    struct hirc_part part = {&memory, sizeof memory};
    add_step(recorder, HIRC_STEP_FREE, &part, 1);
  }
  // What was given before is not counted again.
  if (!block->is_ours)
    recording->kept_bytes += block->bytes;
  block->is_ours = block->is_free = true;
  hirc_disown(memory, HIRC_OBJECT);
}

// --- streams -------------------------------------------------------------------------------------

static void *stream_of(struct hirc_recorder *recorder, enum hirc_stream_kind kind, int64_t number,
                        const char *name) {
  struct recording *recording = recorder->recording;
  if (kind == HIRC_STREAM_ACQUIRED)
    number = (int64_t)recorder->acquired++;
  for (size_t i = 0; i < recording->stream_count; ++i) {
    const struct own_stream *own = &recording->streams[i];
    if (own->kind == kind && own->number == number && (!name || strcmp(own->name, name) == 0))
      return own->stream;
  }
  cuda_stream stream = NULL;
  if (recorder->replays ||
      !grow((void **)&recording->streams, &recording->stream_room, recording->stream_count + 1,
            sizeof *recording->streams) ||
      cudaStreamCreateWithFlags(&stream, CUDA_STREAM_NON_BLOCKING) != 0)
    abandon(recorder);
  recording->streams[recording->stream_count++] = (struct own_stream){kind, number, name, stream};
  return stream;
}

// --- a program's graphs --------------------------------------------------------------------------

// The number of a stream, which no other one ever has; 0 where there is none, as of HIP's.
static unsigned long long id_of(cuda_stream stream) {
  unsigned long long id = 0;
  if (cudaStreamGetId(stream, &id) == 0)
    return id;
  cudaGetLastError();
  return 0;
}

// Gives back what a recording has, on the current device; its shapes stay. CUDA waits for nothing
// before it gives such memory away: it is freed after the graph in the stream of a call, or where
// the graph is in others too, or there is no call (NULL), once the device is done. Where CUDA cannot
// wait, as while a stream is captured, the memory stays: a graph may use it.
static void drop(struct recording *recording, const cuda_stream *stream) {
  bool is_followed = stream && !recording->is_in_others && recording->launched_in == *stream &&
                     (uintptr_t)*stream != STREAM_PER_THREAD &&
                     recording->first_id == id_of(*stream);
  bool is_done = !recording->is_launched || is_followed || cudaDeviceSynchronize() == 0;
  if (recording->made)
    cudaGraphExecDestroy(recording->made);
  if (recording->graph)
    cudaGraphDestroy(recording->graph);
  for (size_t i = 0; i < recording->block_count; ++i)
    if (recording->blocks[i].is_ours && is_done &&
        (!stream || cudaFreeAsync(recording->blocks[i].memory, *stream) != 0))
      cudaFree(recording->blocks[i].memory);
  for (size_t i = 0; i < recording->stream_count; ++i)
    cudaStreamDestroy(recording->streams[i].stream);
  if (recording->origin)
    cudaStreamDestroy(recording->origin);
  cudaGetLastError();
  recording->graph = NULL;
  recording->made = NULL;
  recording->origin = NULL;
  recording->launched_in = NULL;
  recording->is_launched = recording->is_in_others = recording->gives = false;
  recording->step_count = recording->byte_count = recording->arguments.count = 0;
  recording->block_count = recording->stream_count = 0;
  recording->kept_bytes = 0;
}

static void clear(struct recording *recording, const cuda_stream *stream) {
  drop(recording, stream);
  free(recording->steps);
  free(recording->bytes);
  free(recording->blocks);
  free(recording->streams);
  free(recording->needs);
  free(recording->given);
  free(recording->arguments.numbers);
  *recording = (struct recording){0};
}

static void drop_all(void) {
  int current = 0;
  bool knows_device = cudaGetDevice(&current) == 0;
  for (struct hirc_graphs *graphs = atomic_exchange(&hirc_state_graphs_3, NULL), *next; graphs;
       graphs = next) {
    next = graphs->next;
    for (int device = 0; device < MAX_DEVICES; ++device) {
      struct device_graphs *there = graphs->on[device];
      if (there && knows_device && cudaSetDevice(device) == 0) {
        for (int i = 0; i < GRAPHS + ALIKE; ++i)
          clear(&there->recordings[i], NULL);
      }
      free(there);
    }
    free(graphs);
  }
  if (knows_device)
    cudaSetDevice(current);
}

// A program's graphs, made at its first call; NULL where there is no memory.
static struct hirc_graphs *graphs_of(struct hirc_graphs *_Atomic *known) {
  struct hirc_graphs *graphs = atomic_load_explicit(known, memory_order_acquire), *none = NULL;
  if (graphs)
    return graphs;
  graphs = calloc(1, sizeof *graphs);
  if (!graphs)
    return NULL;
  if (!atomic_compare_exchange_strong(known, &none, graphs)) {
    free(graphs);
    return none;
  }
  graphs->next = atomic_load(&hirc_state_graphs_3);
  while (!atomic_compare_exchange_weak(&hirc_state_graphs_3, &graphs->next, graphs))
    ;
  if (on_cpu_device())
    hirc_cpu_device_at_unload(drop_all);
  return graphs;
}

// Those on the current device, likewise; NULL too where CUDA does not say which that is.
static struct device_graphs *graphs_on_current(struct hirc_graphs *graphs) {
  int device = 0;
  if (hirc_graph_device(&device) != 0 || device < 0 || device >= MAX_DEVICES)
    return NULL;
  struct device_graphs *there = atomic_load_explicit(&graphs->on[device], memory_order_acquire);
  struct device_graphs *none = NULL;
  if (there)
    return there;
  there = calloc(1, sizeof *there);
  if (!there)
    return NULL;
  if (atomic_compare_exchange_strong(&graphs->on[device], &none, there))
    return there;
  free(there);
  return none;
}

static uint64_t mixed(uint64_t hash, uint64_t number) {
  hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

static uint64_t mixed_tensor(uint64_t hash, const struct dl_tensor *tensor) {
  for (int32_t i = 0; i < tensor->rank; ++i) {
    hash = mixed(hash, (uint64_t)tensor->sizes[i]);
    if (tensor->strides)
      hash = mixed(hash, (uint64_t)tensor->strides[i]);
  }
  return hash;
}

// Of the shapes of a call; equal for others at worst, whose recording then is found to differ.
static uint64_t key_of(const struct hirc_program_info *program,
                       const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs) {
  uint64_t hash = 1;
  for (int64_t i = 0; i < program->input_count; ++i)
    if (inputs[i]->rank == program->inputs[i].rank && inputs[i]->rank > 0 && inputs[i]->sizes)
      hash = mixed_tensor(hash, inputs[i]);
  for (int64_t i = 0; i < program->output_count; ++i) {
    bool is_given = outputs[i]->data != NULL;
    hash = mixed(hash, is_given);
    if (is_given && outputs[i]->rank == program->outputs[i].rank && outputs[i]->rank > 0 &&
        outputs[i]->sizes)
      hash = mixed_tensor(hash, outputs[i]);
  }
  return hash ? hash : 1;
}

// Where shapes without a graph are counted: in one of two places, where both are others' instead of
// those that came less often.
static struct seen *find_seen(struct device_graphs *graphs, uint64_t key) {
  struct seen *one = &graphs->seen[key % SEEN], *other = &graphs->seen[(key >> 32) % SEEN];
  if (one->key == key)
    return one;
  if (other->key == key)
    return other;
  struct seen *place = one->calls <= other->calls ? one : other;
  *place = (struct seen){key, 0};
  return place;
}

// Forgets graphs that were recorded in vain, in time: shapes that stay get some after many that did
// not.
static void forgive(struct device_graphs *graphs) {
  uint64_t forgiven = (graphs->turn - graphs->forgiven) / TURNS_FORGIVEN;
  graphs->forgiven += forgiven * TURNS_FORGIVEN;
  graphs->unused -= forgiven < (uint64_t)graphs->unused ? (int)forgiven : graphs->unused;
}

// Whether shapes that have no graph have come often enough to get one.
static bool is_due(struct device_graphs *graphs, uint64_t key) {
  forgive(graphs);
  return find_seen(graphs, key)->calls++ >= CALLS_BEFORE && graphs->unused < MOST_UNUSED;
}

// The recordings of a key.
static struct alike *find_alike(struct device_graphs *graphs, uint64_t key) {
  struct alike *alike = &graphs->last;
  if (alike->key == key)
    return alike;
  *alike = (struct alike){.key = key};
  for (int i = 0; i < GRAPHS && alike->count < ALIKE; ++i)
    if (graphs->keys[i] == key)
      alike->found[alike->count++] = &graphs->recordings[i];
  return alike;
}

// Those that shapes without one share, once such shapes have come often enough.
static int find_shared(struct device_graphs *graphs, struct recording **found) {
  if (graphs->changes < CHANGES_BEFORE) {
    ++graphs->changes;
    return 0;
  }
  for (int i = 0; i < ALIKE; ++i) {
    found[i] = &graphs->recordings[GRAPHS + i];
    found[i]->is_shared = true;
  }
  return ALIKE;
}

// Puts the one that is to be tried first in front.
static void put_in_order(const struct device_graphs *graphs, struct recording **found) {
  if ((found[0]->used < found[1]->used) == graphs->newest_first) {
    struct recording *other = found[0];
    found[0] = found[1];
    found[1] = other;
  }
}

// Gives up the recording in a place.
static void give_up(struct device_graphs *graphs, int place, const cuda_stream *stream) {
  struct recording *recording = &graphs->recordings[place];
  // Where shapes come and go graphs cost more than they save.
  if (place < GRAPHS && graphs->keys[place]) {
    graphs->unused += recording->replays < REPLAYS_WORTH ? 1 : graphs->unused > 0 ? -1 : 0;
    graphs->keys[place] = graphs->last.key = 0;
  }
  clear(recording, stream);
}

// A place for another recording of a key: the one that was not used for longest goes.
static struct recording *make_room(struct device_graphs *graphs, uint64_t key,
                                   const cuda_stream *stream) {
  int oldest = 0;
  for (int i = 1; i < GRAPHS; ++i)
    if (graphs->recordings[i].used < graphs->recordings[oldest].used)
      oldest = i;
  give_up(graphs, oldest, stream);
  graphs->keys[oldest] = key;
  graphs->last.key = 0;
  return &graphs->recordings[oldest];
}

// The recordings that were not used for longest go, but not the newest, until all keep no more memory
// than they may.
static void keep_within_limit(struct device_graphs *graphs, const struct recording *newest,
                              const cuda_stream *stream) {
  for (;;) {
    size_t kept = 0;
    int oldest = -1;
    for (int i = 0; i < GRAPHS + ALIKE; ++i) {
      const struct recording *each = &graphs->recordings[i];
      kept += each->kept_bytes;
      if (each->kept_bytes && each != newest &&
          (oldest < 0 || each->used < graphs->recordings[oldest].used))
        oldest = i;
    }
    if (kept <= hirc_state_graph_memory_1 || oldest < 0)
      return;
    give_up(graphs, oldest, stream);
  }
}

// --- a call --------------------------------------------------------------------------------------

// Launches the graph; false where CUDA refuses.
static inline bool launch(struct recording *recording, cuda_stream stream) {
  if (hirc_graph_launch(recording->made, stream) != 0)
    return false;
  if (__builtin_expect(!recording->is_launched, 0))
    recording->first_id = id_of(stream);
  else if (recording->launched_in != stream)
    recording->is_in_others = true;
  recording->launched_in = stream;
  return recording->is_launched = true;
}

// A call with the arguments of the last one that the recording did: nothing but the launch. Returns
// false where CUDA refuses that.
static inline bool repeat(struct device_graphs *graphs, struct recording *recording,
                          const struct hirc_program_info *program, void *inputs, void *outputs,
                          cuda_stream stream) {
  bool has_begun = hirc_range_begin(program->name);
  hirc_lend_tensors(program, inputs, outputs);
  bool is_done = launch(recording, stream);
  hirc_range_end(has_begun);
  if (!is_done)
    return false;
  recording->used = graphs->turn;
  recording->replays += recording->replays < MOST_WORTH;
  graphs->newest = recording;
  count(graphs, REPLAYED);
  count(graphs, REPEATED);
  return true;
}

static bool begin_recording(struct recording *recording) {
  return cudaStreamCreateWithFlags(&recording->origin, CUDA_STREAM_NON_BLOCKING) == 0 &&
         cudaStreamBeginCapture(recording->origin, CUDA_CAPTURE_RELAXED) == 0;
}

// Ends a capture that is not to become a graph.
static void end_capture(struct recording *recording) {
  int status = 0;
  cuda_graph graph = NULL;
  if (recording->origin && cudaStreamIsCapturing(recording->origin, &status) == 0 && status != 0)
    cudaStreamEndCapture(recording->origin, &graph);
  if (graph)
    cudaGraphDestroy(graph);
  cudaGetLastError();
}

// Makes the graph, or sees that the replay was whole, and launches it.
static void finish(struct hirc_recorder *recorder) {
  struct recording *recording = recorder->recording;
  if (recorder->replays) {
    if (recorder->next != recording->step_count)
      abandon(recorder);
  } else {
    // Memory that the program gives its caller cannot be the graph's: the next recording knows.
    size_t known = recording->given_count;
    for (size_t i = 0; i < recording->block_count; ++i)
      if (recording->blocks[i].is_ours && !recording->blocks[i].is_free) {
        if (recording->given_count == MOST_OUTPUTS ||
            !grow((void **)&recording->given, &recording->given_room, recording->given_count + 1,
                  sizeof *recording->given))
          abandon(recorder);
        recording->given[recording->given_count++] = recording->blocks[i].allocation;
      }
    if (recording->given_count != known)
      abandon(recorder);
    for (size_t i = 0; i < recording->block_count; ++i)
      recording->gives |= !recording->blocks[i].is_ours;
    if (cudaStreamEndCapture(recording->origin, &recording->graph) != 0 ||
        cudaGraphInstantiateWithFlags(&recording->made, recording->graph, 0) != 0)
      abandon(recorder);
    count(recorder->graphs, RECORDED);
  }
  if (!launch(recording, recorder->stream))
    abandon(recorder);
}

static const struct hirc_recorder_functions functions = {.does = does,
                                                         .did = did,
                                                         .launches = launches,
                                                         .launched = launched,
                                                         .memory = memory_of,
                                                         .allocated = allocated,
                                                         .frees = frees,
                                                         .stream = stream_of,
                                                         .abandon = abandon};

// Runs the program as a recording or a replay. Returns its status; -1 where it has to run without,
// and nothing has.
static int run(hirc_guarded *function, struct device_graphs *graphs, struct recording *recording,
               const struct hirc_program_info *program, void *inputs, void *outputs,
               void *stream) {
  struct hirc_call call;
  struct hirc_recorder recorder = {.base = {&functions},
                                   .graphs = graphs,
                                   .recording = recording,
                                   .call = &call,
                                   .stream = stream,
                                   .replays = recording->made != NULL};
  int status = -1;
  recording->arguments.count = 0;
  hirc_call_begin(&call, stream);
  call.recorder = &recorder;
  if (setjmp(call.failed) == 0) {
    if (!recorder.replays && !begin_recording(recording))
      abandon(&recorder);
    status = function(inputs, outputs, recording->origin);
    if (status == 0)
      finish(&recorder);
    hirc_state_call_2 = call.outer;
  } else {
    status = -1;
    hirc_call_release(&call);
  }
  hirc_call_end(&call);
  if (status == 0) {
    if (!recording->is_shared && !recording->gives)
      hirc_arguments_keep(&recording->arguments, program, inputs, outputs);
    graphs->newest = recording;
    if (recorder.replays) {
      recording->replays += recording->replays < MOST_WORTH;
      count(graphs, REPLAYED);
    }
    return 0;
  }
  if (status < 0) {
    count(graphs, ABANDONED_CALLS);
    cudaGetLastError(); // of what failed: nothing later may report it
  }
  if (recorder.replays)
    return status;
  // What was refused or failed is so again without a graph.
  recording->vain += status < 0;
  end_capture(recording);
  drop(recording, &recorder.stream);
  return -1;
}

// Whether there may be another recording in this place, after a call that none was for. Each such call
// takes a little of what a recording is worth, so that it stays for some of them.
static bool may_replace(const struct recording *recording) {
  bool is_worth = recording->replays >= REPLAYS_WORTH;
  if (!recording->made)
    return recording->vain <= MOST_VAIN;
  return recording->is_outgrown ? is_worth || recording->grown < MOST_GROWN
                                : !is_worth && recording->vain < MOST_VAIN;
}

// The place for another recording beside those that were tried: one that is too small, an empty one,
// or the one that was worth least. NULL where there is none.
static struct recording *find_place(struct recording *const *alike, int found) {
  struct recording *place = NULL;
  for (int i = 0; i < found; ++i) {
    struct recording *each = alike[i];
    if (!may_replace(each))
      continue;
    if (each->made && each->is_outgrown)
      return each;
    if (!place || (place->made && (!each->made || each->replays < place->replays)))
      place = each;
  }
  return place;
}

// Empties a place for another recording.
static void replace(struct recording *recording, cuda_stream stream, uint64_t turn) {
  bool is_worth = recording->replays >= REPLAYS_WORTH;
  if (recording->made) {
    recording->grown = is_worth ? 0 : recording->grown + recording->is_outgrown;
    recording->vain = is_worth ? 0 : recording->vain + !recording->is_outgrown;
    // Another program's allocations are others.
    if (!recording->is_outgrown)
      recording->need_count = 0;
    drop(recording, &stream);
  }
  recording->is_outgrown = false;
  recording->replays = 0;
  recording->used = turn;
}

// Where shapes cannot share they do without for a while.
static void rest(struct device_graphs *graphs, cuda_stream stream) {
  struct recording *shared = &graphs->recordings[GRAPHS];
  for (int i = 0; i < ALIKE; ++i)
    if (shared[i].made && shared[i].replays > 0)
      return;
  for (int i = 0; i < ALIKE; ++i)
    clear(&shared[i], &stream);
  graphs->changes = -CALLS_OF_REST;
}

// Runs the program with the graphs of its shapes, or records one.
static int run_alike(hirc_guarded *function, struct device_graphs *graphs, uint64_t key,
                     const struct hirc_program_info *program, void *inputs, void *outputs,
                     cuda_stream stream, const struct dl_tensor *given) {
  struct dl_tensor *const *tensors = outputs;
  struct recording *shared[ALIKE], **alike;
  struct alike *own = find_alike(graphs, key);
  int found = own->count;
  bool is_shared = found == 0 && !is_due(graphs, key);
  alike = is_shared ? shared : own->found;
  if (is_shared && (found = find_shared(graphs, shared)) == 0)
    return -1;
  if (found == ALIKE)
    put_in_order(graphs, alike);
  for (int i = 0; i < found; ++i) {
    struct recording *each = alike[i];
    if (!each->made)
      continue;
    each->is_outgrown = each->is_exceeded = false;
    bool is_done = hirc_arguments_repeat(&each->arguments, program, inputs, outputs) &&
                   repeat(graphs, each, program, inputs, outputs, stream);
    int status = is_done ? 0 : run(function, graphs, each, program, inputs, outputs, stream);
    if (status >= 0) {
      if (i > 0)
        graphs->newest_first = !graphs->newest_first;
      each->used = graphs->turn;
      return status;
    }
    for (int64_t k = 0; k < program->output_count; ++k)
      *tensors[k] = given[k];
    if (each->is_exceeded)
      return -1;
  }
  for (int i = 0; i < found; ++i)
    alike[i]->replays -= alike[i]->replays > 0;
  struct recording *place = find_place(alike, found);
  if (!is_shared && (found == 0 || (found == 1 && alike[0]->made && !alike[0]->is_outgrown)))
    place = make_room(graphs, key, &stream);
  if (!place && is_shared)
    rest(graphs, stream);
  if (!place)
    return -1;
  replace(place, stream, graphs->turn);
  int status = run(function, graphs, place, program, inputs, outputs, stream);
  keep_within_limit(graphs, place, &stream);
  return status;
}

static bool may_begin(void *stream) {
  static _Atomic int runtime;
  int version = atomic_load_explicit(&runtime, memory_order_relaxed), captured = 0;
  if (version == 0 && cudaRuntimeGetVersion(&version) == 0)
    atomic_store_explicit(&runtime, version, memory_order_relaxed);
  // The default stream, 0 or 1, cannot be captured.
  return version >= FIRST_RUNTIME && !memory_is_counted() &&
         ((uintptr_t)stream <= 1 ||
          (hirc_graph_is_captured(stream, &captured) == 0 && !captured));
}

// A call with other arguments than the last one.
__attribute__((noinline)) static int call_anew(hirc_guarded *function,
                                               struct device_graphs *graphs,
                                               const struct hirc_program_info *program,
                                               void *inputs, void *outputs, void *stream) {
  struct dl_tensor given[MOST_OUTPUTS];
  struct dl_tensor *const *tensors = outputs;
  if (program->output_count > MOST_OUTPUTS)
    return -1;
  for (int64_t i = 0; i < program->output_count; ++i)
    given[i] = *tensors[i];
  int status = run_alike(function, graphs, key_of(program, inputs, tensors), program, inputs,
                         outputs, stream, given);
  for (int64_t i = 0; status != 0 && i < program->output_count; ++i)
    *tensors[i] = given[i];
  return status;
}

static int call_with(hirc_guarded *function, struct device_graphs *graphs,
                     const struct hirc_program_info *program, void *inputs, void *outputs,
                     void *stream) {
  struct recording *newest = graphs->newest;
  if (!may_begin(stream))
    return -1;
  ++graphs->turn;
  if (newest && hirc_arguments_repeat(&newest->arguments, program, inputs, outputs) &&
      repeat(graphs, newest, program, inputs, outputs, stream))
    return 0;
  return call_anew(function, graphs, program, inputs, outputs, stream);
}

// As hirc_guard, by a graph of the program where one was recorded for such a call.
int hirc_guard_graph(hirc_guarded *function, void **known, const void *program, void *inputs,
                     void *outputs, void *stream) {
  struct hirc_graphs *graphs = graphs_of((struct hirc_graphs *_Atomic *)known);
  struct device_graphs *there = graphs ? graphs_on_current(graphs) : NULL;
  if (there && !atomic_exchange_explicit(&there->is_taken, true, memory_order_acquire)) {
    int status = call_with(function, there, program, inputs, outputs, stream);
    atomic_store_explicit(&there->is_taken, false, memory_order_release);
    if (status >= 0)
      return status;
  }
  return hirc_guard(function, inputs, outputs, stream);
}
