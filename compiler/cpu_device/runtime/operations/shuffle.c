// shfl and shfl.sync (PTX ISA, "shfl.sync").
//
// c holds the clamp value (bits 0 to 4) and the segment mask (bits 8 to 12). Lanes whose bits under
// the segment mask agree form a segment; a value from outside it is replaced by the lane's own.

#include "lanes.h"
#include "operations.h"

// The lane whose value `lane` takes; `inside` tells whether it lies in the segment.
static inline uint32_t source_lane(enum hirc_shuffle mode, uint32_t lane, uint32_t b, uint32_t c,
                                   bool *inside) {
  b &= 31;
  uint32_t segment = (c >> 8) & 31, clamp = c & 31;
  uint32_t last = (lane & segment) | (clamp & ~segment & 31);
  uint32_t first = lane & segment;
  int32_t source;
  switch (mode) {
  case HIRC_SHUFFLE_UP:
    source = (int32_t)lane - (int32_t)b;
    *inside = source >= (int32_t)last;
    break;
  case HIRC_SHUFFLE_DOWN:
    source = (int32_t)(lane + b);
    *inside = source <= (int32_t)last;
    break;
  case HIRC_SHUFFLE_BFLY:
    source = (int32_t)(lane ^ b);
    *inside = source <= (int32_t)last;
    break;
  default:
    source = (int32_t)(first | (b & ~segment & 31));
    *inside = source <= (int32_t)last;
  }
  return *inside ? (uint32_t)source : lane;
}

// All lanes with the same b and c: the sources are computed in one loop without branches.
static void shuffle_uniform(uint32_t mode, const uint32_t *restrict values, uint32_t b, uint32_t c,
                            uint32_t *restrict results, uint8_t *restrict predicates) {
  bool inside;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    results[lane] = values[source_lane(mode, lane, b, c, &inside)];
    predicates[lane] = inside;
  }
}

static bool same_operands(const uint32_t *b, const uint32_t *c) {
  uint32_t different = 0;
  for (uint32_t lane = 1; lane < 32; ++lane)
    different |= (b[lane] ^ b[0]) | (c[lane] ^ c[0]);
  return different == 0;
}

bool hirc_perform_shuffle(const struct hirc_stop_call *call) {
  uint32_t mode = (uint32_t)parameter(call, 0), first = parameter(call, 1) ? 1 : 0;
  const uint32_t *values = hirc_lanes(call, first);
  const uint32_t *b = hirc_lanes(call, first + 1);
  const uint32_t *c = hirc_lanes(call, first + 2);
  uint32_t *to = hirc_lanes(call, result_slot(call));
  uint8_t *predicates =
      call->stop->result_count > 1 ? hirc_lanes(call, result_slot(call) + 1) : NULL;
  uint32_t results[32];
  uint8_t inside[32];
  if (call->lanes == UINT32_MAX && same_operands(b, c)) {
    switch (mode) { // a constant mode each, so that every loop is specialised
    case HIRC_SHUFFLE_UP:
      shuffle_uniform(HIRC_SHUFFLE_UP, values, b[0], c[0], results, inside);
      break;
    case HIRC_SHUFFLE_DOWN:
      shuffle_uniform(HIRC_SHUFFLE_DOWN, values, b[0], c[0], results, inside);
      break;
    case HIRC_SHUFFLE_BFLY:
      shuffle_uniform(HIRC_SHUFFLE_BFLY, values, b[0], c[0], results, inside);
      break;
    default:
      shuffle_uniform(HIRC_SHUFFLE_IDX, values, b[0], c[0], results, inside);
    }
    memcpy(to, results, sizeof results);
    if (predicates)
      memcpy(predicates, inside, sizeof inside);
    return true;
  }
  for (FOR_LANES(lane, call->lanes)) {
    bool within;
    uint32_t source = source_lane(mode, lane, b[lane], c[lane], &within);
    // What a lane that takes no part gives is undefined: here it is the lane's own value.
    results[lane] = call->lanes >> source & 1 ? values[source] : values[lane];
    inside[lane] = within;
  }
  for (FOR_LANES(lane, call->lanes)) {
    to[lane] = results[lane];
    if (predicates)
      predicates[lane] = inside[lane];
  }
  return true;
}
