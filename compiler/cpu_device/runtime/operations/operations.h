// The performers of stops and the functions that generated code calls for operations that involve
// other threads or asynchronous copies. compiler/cpu_device/operations names them.
//
// In the signatures of plain functions every integer narrower than 32 bits has been extended to 32.
#ifndef HIRC_OPERATIONS_H
#define HIRC_OPERATIONS_H

#include "../device_abi.h"

// --- within a warp -------------------------------------------------------------------------------

// Parameter 0 of hirc_perform_shuffle: which lane a value comes from.
enum hirc_shuffle { HIRC_SHUFFLE_UP, HIRC_SHUFFLE_DOWN, HIRC_SHUFFLE_BFLY, HIRC_SHUFFLE_IDX };
// Parameter 0 of hirc_perform_vote.
enum hirc_vote { HIRC_VOTE_ALL, HIRC_VOTE_ANY, HIRC_VOTE_UNI, HIRC_VOTE_BALLOT };
// Parameter 0 of hirc_perform_redux.
enum hirc_redux {
  HIRC_REDUX_ADD,
  HIRC_REDUX_MIN,
  HIRC_REDUX_MAX,
  HIRC_REDUX_UMIN,
  HIRC_REDUX_UMAX,
  HIRC_REDUX_AND,
  HIRC_REDUX_OR,
  HIRC_REDUX_XOR,
  HIRC_REDUX_FMIN,
  HIRC_REDUX_FMAX,
};

hirc_perform hirc_perform_bpermute;    // address, value -> value
hirc_perform hirc_perform_first_lane;  // value -> value
hirc_perform hirc_perform_read_lane;   // value, lane -> value
hirc_perform hirc_perform_ballot;      // predicate -> lanes
hirc_perform hirc_perform_shuffle;     // (mask,) value, b, c -> value [, i1]; parameter 1: the mask
hirc_perform hirc_perform_vote;        // (mask,) i1 -> i1 or i32; parameter 1: the mask
hirc_perform hirc_perform_match_any;   // mask, value -> i32
hirc_perform hirc_perform_match_all;   // mask, value -> i32, i1
hirc_perform hirc_perform_redux;       // mask, value -> value; parameters 1 abs, 2 NaN
hirc_perform hirc_perform_elect;       // mask -> i32, i1
hirc_perform hirc_perform_active_mask; // -> i32
hirc_perform hirc_perform_warp_sync;   // mask

// --- matrices ------------------------------------------------------------------------------------

enum hirc_element {
  HIRC_F16,
  HIRC_BF16,
  HIRC_TF32,
  HIRC_F32,
  HIRC_F64,
  HIRC_E4M3,
  HIRC_E5M2,
  HIRC_S8,
  HIRC_U8,
  HIRC_S4,
  HIRC_U4,
  HIRC_B1,
  HIRC_S32,
};

// Parameter 8 of hirc_perform_mma.
enum hirc_mma_kind { HIRC_MMA_SYNC, HIRC_MMA_QUAD_PAIRS, HIRC_MMA_WMMA };
// Parameter 7 of hirc_perform_mma: what is done with bits.
enum hirc_bit_product { HIRC_BITS_AND, HIRC_BITS_XOR };

// Parameters: m, n, k, types of d, a, b, c, bit product, kind, 1 for satfinite, then for quad pairs
// 1 where a is by columns, 1 where b is by columns.
hirc_perform hirc_perform_mma;
// 8 x 8 matrices of 16-bit elements. Parameters: their number, 1 for trans.
hirc_perform hirc_perform_ldmatrix; // pointer -> registers
hirc_perform hirc_perform_stmatrix; // pointer, registers
hirc_perform hirc_perform_movmatrix; // register -> register: one matrix, transposed
// Parameters: rows, columns, type, 1 for columns first, 1 where there is a stride.
hirc_perform hirc_perform_wmma_load;  // pointer (, stride) -> fragment
hirc_perform hirc_perform_wmma_store; // pointer, fragment (, stride)
// d, a (registers or a descriptor), b's descriptor, scale-d (i1) -> d. Parameters: n, types of d,
// a, b, 1 for a in registers, scale-a, scale-b (1 or -1), 1 for a and b with m or n innermost, bit
// product, satfinite.
hirc_perform hirc_perform_wgmma;
hirc_perform hirc_perform_wgmma_commit;
hirc_perform hirc_poll_wgmma_groups; // the groups that may be left

// --- mbarrier ------------------------------------------------------------------------------------

void hirc_mbarrier_init(uint64_t *barrier, uint32_t count);
void hirc_mbarrier_inval(uint64_t *barrier);
uint64_t hirc_mbarrier_arrive(uint64_t *barrier, uint32_t count);
uint64_t hirc_mbarrier_arrive_drop(uint64_t *barrier, uint32_t count);
uint64_t hirc_mbarrier_arrive_expect_tx(uint64_t *barrier, uint32_t bytes);
uint64_t hirc_mbarrier_arrive_drop_expect_tx(uint64_t *barrier, uint32_t bytes);
void hirc_mbarrier_expect_tx(uint64_t *barrier, uint32_t bytes);
void hirc_mbarrier_complete_tx(uint64_t *barrier, uint32_t bytes);
uint32_t hirc_mbarrier_pending_count(uint64_t state);
// Polls: barrier, state or parity (, time limit) -> i1. Parameters: 1 for a parity, the polls after
// which the answer is false; 0: none.
hirc_perform hirc_poll_mbarrier;
// What the current phase of the barrier needs to complete, in words.
void hirc_mbarrier_describe(const uint64_t *barrier, char *text, size_t room);

// --- clusters ------------------------------------------------------------------------------------

void *hirc_map_shared_rank(struct hirc_block *block, uint32_t thread, void *address, uint32_t rank);
uint32_t hirc_shared_rank(struct hirc_block *block, uint32_t thread, void *address);

// --- copies --------------------------------------------------------------------------------------

void hirc_copy_async(void *to, const void *from, uint32_t bytes, uint32_t from_bytes);
void hirc_copy_bulk(void *to, const void *from, uint32_t bytes);
void hirc_copy_bulk_to_shared(struct hirc_block *block, uint32_t thread, void *to, void *barrier,
                              const void *from, uint32_t bytes, uint32_t mask, uint32_t multicast);
void hirc_fence(void);
void hirc_copy_bulk_masked(void *to, const void *from, uint32_t bytes, uint32_t byte_mask);

enum hirc_tensor_reduction {
  HIRC_TENSOR_ADD,
  HIRC_TENSOR_MIN,
  HIRC_TENSOR_MAX,
  HIRC_TENSOR_INC,
  HIRC_TENSOR_DEC,
  HIRC_TENSOR_AND,
  HIRC_TENSOR_OR,
  HIRC_TENSOR_XOR,
};

// Coordinates beyond the rank are 0.
void hirc_tensor_load(struct hirc_block *block, uint32_t thread, void *to, void *barrier,
                      const void *map, int32_t c0, int32_t c1, int32_t c2, int32_t c3, int32_t c4,
                      uint32_t rank, uint32_t mask, uint32_t multicast);
void hirc_tensor_store(struct hirc_block *block, uint32_t thread, const void *from, const void *map,
                       int32_t c0, int32_t c1, int32_t c2, int32_t c3, int32_t c4, uint32_t rank);
void hirc_tensor_reduce(struct hirc_block *block, uint32_t thread, const void *from,
                        const void *map, int32_t c0, int32_t c1, int32_t c2, int32_t c3, int32_t c4,
                        uint32_t rank, uint32_t reduction);

// cuTensorMapEncodeTiled: returns a CUresult.
int hirc_encode_tensor_map_tiled(void *map, int type, uint32_t rank, void *start,
                                 const uint64_t *sizes, const uint64_t *strides,
                                 const uint32_t *box, const uint32_t *element_strides,
                                 int interleave, int swizzle, int l2_promotion, int fill);

#endif
