// What the lanes of a warp find out together: votes, matches, reductions, who is there (PTX ISA,
// "vote.sync", "match.sync", "redux.sync", "elect.sync", "activemask").

#include "lanes.h"
#include "operations.h"

static void give(const struct hirc_stop_call *call, uint32_t field, uint64_t value) {
  uint32_t slot = result_slot(call) + field;
  for (FOR_LANES(lane, call->lanes))
    write_integer(lane_slot(call, slot, lane), slot_bytes(call, slot), value);
}

bool hirc_perform_vote(const struct hirc_stop_call *call) {
  const uint8_t *predicates = hirc_lanes(call, parameter(call, 1) ? 1 : 0);
  uint32_t ballot = 0;
  for (FOR_LANES(lane, call->lanes))
    ballot |= (uint32_t)(predicates[lane] & 1) << lane;
  switch (parameter(call, 0)) {
  case HIRC_VOTE_ALL:
    give(call, 0, ballot == call->lanes);
    break;
  case HIRC_VOTE_ANY:
    give(call, 0, ballot != 0);
    break;
  case HIRC_VOTE_UNI:
    give(call, 0, ballot == call->lanes || ballot == 0);
    break;
  default:
    give(call, 0, ballot);
  }
  return true;
}

static uint64_t value_of(const struct hirc_stop_call *call, uint32_t slot, uint32_t lane) {
  return read_integer(lane_slot(call, slot, lane), slot_bytes(call, slot));
}

// The lanes whose value is this one.
static uint32_t lanes_with(const struct hirc_stop_call *call, uint64_t value) {
  uint32_t found = 0;
  for (FOR_LANES(lane, call->lanes))
    if (value_of(call, 1, lane) == value)
      found |= UINT32_C(1) << lane;
  return found;
}

bool hirc_perform_match_any(const struct hirc_stop_call *call) {
  for (FOR_LANES(lane, call->lanes)) {
    uint32_t same = lanes_with(call, value_of(call, 1, lane));
    write_integer(lane_slot(call, result_slot(call), lane), 4, same);
  }
  return true;
}

bool hirc_perform_match_all(const struct hirc_stop_call *call) {
  bool all = lanes_with(call, value_of(call, 1, first_lane(call))) == call->lanes;
  give(call, 0, all ? call->lanes : 0);
  if (call->stop->result_count > 1)
    give(call, 1, all);
  return true;
}

static uint32_t combine(uint32_t operation, uint32_t a, uint32_t b) {
  switch (operation) {
  case HIRC_REDUX_ADD:
    return a + b;
  case HIRC_REDUX_MIN:
    return (int32_t)a < (int32_t)b ? a : b;
  case HIRC_REDUX_MAX:
    return (int32_t)a > (int32_t)b ? a : b;
  case HIRC_REDUX_UMIN:
    return a < b ? a : b;
  case HIRC_REDUX_UMAX:
    return a > b ? a : b;
  case HIRC_REDUX_AND:
    return a & b;
  case HIRC_REDUX_OR:
    return a | b;
  default:
    return a ^ b;
  }
}

static bool is_nan(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

// Floats in the order of their values, -0 before +0, as signed integers.
static int32_t float_order(uint32_t bits) {
  return (int32_t)(bits ^ ((uint32_t)((int32_t)bits >> 31) & 0x7fffffff));
}

// NaN operands lose, unless .NaN says that they win.
static uint32_t combine_floats(bool maximum, bool nan_wins, uint32_t a, uint32_t b) {
  const uint32_t canonical_nan = 0x7fffffff;
  if (is_nan(a) || is_nan(b)) {
    if (nan_wins || (is_nan(a) && is_nan(b)))
      return canonical_nan;
    return is_nan(a) ? b : a;
  }
  return (float_order(a) < float_order(b)) == maximum ? b : a;
}

bool hirc_perform_redux(const struct hirc_stop_call *call) {
  uint32_t operation = (uint32_t)parameter(call, 0);
  bool absolute = parameter(call, 1), nan_wins = parameter(call, 2);
  bool floats = operation >= HIRC_REDUX_FMIN;
  const uint32_t *values = hirc_lanes(call, 1);
  uint32_t first = first_lane(call);
  uint32_t keep = floats && absolute ? 0x7fffffff : UINT32_MAX;
  uint32_t total = values[first] & keep;
  if (floats && is_nan(total))
    total = 0x7fffffff;
  for (FOR_LANES(lane, call->lanes & ~(UINT32_C(1) << first)))
    total = floats ? combine_floats(operation == HIRC_REDUX_FMAX, nan_wins, total,
                                    values[lane] & keep)
                   : combine(operation, total, values[lane]);
  give(call, 0, total);
  return true;
}

// Elects the lowest lane, as the hardware does; PTX only asks for the same one every time.
bool hirc_perform_elect(const struct hirc_stop_call *call) {
  uint32_t leader = first_lane(call);
  give(call, 0, leader);
  if (call->stop->result_count > 1)
    for (FOR_LANES(lane, call->lanes))
      *lane_slot(call, result_slot(call) + 1, lane) = lane == leader;
  return true;
}

bool hirc_perform_active_mask(const struct hirc_stop_call *call) {
  give(call, 0, call->lanes);
  return true;
}

// That the lanes have come together is all there is to it.
bool hirc_perform_warp_sync(const struct hirc_stop_call *call) {
  (void)call;
  return true;
}
