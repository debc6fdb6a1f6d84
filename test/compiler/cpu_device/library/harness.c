// What Python cannot call: functions that take a block, and those of 16-bit floating point.
#include "../../../../compiler/cpu_device/runtime/device_abi.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default")))

// --- a cluster of two blocks ---

static char shared[2][64];
static char frames[2][64];
static char global[16];
static const struct hirc_kernel kernel = {
    .static_shared_bytes = 40, .frame_bytes = 2, .required_cluster = {2, 1, 1}};
static struct hirc_block blocks[2];
static struct hirc_block *const cluster[2] = {&blocks[0], &blocks[1]};

static struct hirc_block *block_of_cluster(uint32_t rank) {
  for (uint32_t i = 0; i < 2; i++) {
    blocks[i] = (struct hirc_block){.rank_in_cluster = i,
                                    .blocks_in_cluster = 2,
                                    .dynamic_shared_bytes = 24,
                                    .padded_threads = 32,
                                    .shared = shared[i],
                                    .frames = frames[i],
                                    .kernel = &kernel,
                                    .cluster = cluster};
  }
  return &blocks[rank];
}

enum place { OWN_START, OWN_END, OTHER, BEFORE_ALL, FRAME, STACK, GLOBAL };

static void *address_of(enum place place, char *stack) {
  switch (place) {
  case OWN_START:
    return &shared[0][0];
  case OWN_END:
    return &shared[0][63];
  case OTHER:
    return &shared[1][8];
  case BEFORE_ALL:
    return (void *)(uintptr_t)64;
  case FRAME:
    return &frames[0][63];
  case STACK:
    return stack;
  default:
    return &global[3];
  }
}

#define TEST(name)                                                                                 \
  bool hirc_nvvm_isspacep_##name(struct hirc_block *block, uint32_t thread, void *pointer);        \
  EXPORT bool is_##name(int place) {                                                               \
    char stack = 0;                                                                                \
    return hirc_nvvm_isspacep_##name(block_of_cluster(0), 0, address_of(place, &stack));           \
  }

TEST(shared)
TEST(shared_cluster)
TEST(local)
TEST(global)

void *hirc_nvvm_mapa(struct hirc_block *block, uint32_t thread, void *pointer, uint32_t rank);
uint32_t hirc_nvvm_getctarank(struct hirc_block *block, uint32_t thread, void *pointer);
uint32_t hirc_nvvm_read_ptx_sreg_total_smem_size(struct hirc_block *block, uint32_t thread);
bool hirc_nvvm_is_explicit_cluster(struct hirc_block *block, uint32_t thread);

// The rank and offset that an offset in block 0's shared memory is mapped to, seen by block `by`.
EXPORT int mapped(uint32_t by, uint32_t rank, uint32_t offset) {
  struct hirc_block *block = block_of_cluster(by);
  char *address = hirc_nvvm_mapa(block, 0, shared[by] + offset, rank);
  uint32_t owner = hirc_nvvm_getctarank(block, 0, address);
  return (int)(owner * 100 + (uint32_t)(address - shared[owner]));
}

EXPORT uint32_t shared_size(void) {
  return hirc_nvvm_read_ptx_sreg_total_smem_size(block_of_cluster(0), 0);
}

EXPORT bool explicit_cluster(void) { return hirc_nvvm_is_explicit_cluster(block_of_cluster(1), 0); }

// --- conversions that the code generator calls ---

float __extendhfsf2(_Float16 value);
double __extendhfdf2(_Float16 value);
_Float16 __truncsfhf2(float value);
_Float16 __truncdfhf2(double value);
__bf16 __truncsfbf2(float value);
__bf16 __truncdfbf2(double value);

static _Float16 half_of_bits(uint16_t bits) {
  _Float16 value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#define BITS(result, type, from)                                                                   \
  EXPORT uint16_t result##_of_##from(from value) {                                                 \
    type converted = result##_(value);                                                             \
    uint16_t bits;                                                                                 \
    memcpy(&bits, &converted, sizeof bits);                                                        \
    return bits;                                                                                   \
  }

EXPORT float extended_float(uint16_t bits) { return __extendhfsf2(half_of_bits(bits)); }
EXPORT double extended_double(uint16_t bits) { return __extendhfdf2(half_of_bits(bits)); }

#define half_(value) _Generic(value, float: __truncsfhf2, double: __truncdfhf2)(value)
#define bf16_(value) _Generic(value, float: __truncsfbf2, double: __truncdfbf2)(value)
BITS(half, _Float16, float)
BITS(half, _Float16, double)
BITS(bf16, __bf16, float)
BITS(bf16, __bf16, double)
