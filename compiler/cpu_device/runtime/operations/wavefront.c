// What the lanes of an AMD wavefront do together (LLVM's "User Guide for AMDGPU Backend", and the
// instruction set architectures of AMD's chips).
#include "lanes.h"
#include "operations.h"

// ds_bpermute_b32: a lane takes the value of the one whose number, times four, it names; 0 of one
// that takes no part.
bool hirc_perform_bpermute(const struct hirc_stop_call *call) {
  const uint32_t *addresses = hirc_lanes(call, 0), *values = hirc_lanes(call, 1);
  uint32_t *to = hirc_lanes(call, result_slot(call)), lanes = call->block->lanes;
  uint32_t results[HIRC_MAX_LANES];
  for (FOR_LANES(lane, call->lanes)) {
    uint32_t source = addresses[lane] / 4 % lanes;
    results[lane] = call->lanes >> source & 1 ? values[source] : 0;
  }
  for (FOR_LANES(lane, call->lanes))
    to[lane] = results[lane];
  return true;
}

static bool read_from(const struct hirc_stop_call *call, uint32_t source) {
  uint64_t value = read_integer(lane_slot(call, 0, source), slot_bytes(call, 0));
  for (FOR_LANES(lane, call->lanes))
    write_integer(lane_slot(call, result_slot(call), lane), slot_bytes(call, 0), value);
  return true;
}

bool hirc_perform_first_lane(const struct hirc_stop_call *call) {
  return read_from(call, first_lane(call));
}

// v_readlane_b32: the lane is named alike by all.
bool hirc_perform_read_lane(const struct hirc_stop_call *call) {
  const uint32_t *named = hirc_lanes(call, 1);
  return read_from(call, named[first_lane(call)] % call->block->lanes);
}

bool hirc_perform_ballot(const struct hirc_stop_call *call) {
  const uint8_t *predicates = hirc_lanes(call, 0);
  uint64_t ballot = 0;
  for (FOR_LANES(lane, call->lanes))
    ballot |= (uint64_t)(predicates[lane] & 1) << lane;
  uint32_t slot = result_slot(call);
  for (FOR_LANES(lane, call->lanes))
    write_integer(lane_slot(call, slot, lane), slot_bytes(call, slot), ballot);
  return true;
}
