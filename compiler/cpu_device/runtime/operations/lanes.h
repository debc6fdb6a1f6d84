// Going over the lanes that a stop is performed for, and reading their operands.
//
// A block's last warp may lack lanes, and a stop may be performed for some of a warp's lanes only.
// The exchange of a lane that is not in `call->lanes` is never read and never written.
#ifndef HIRC_OPERATIONS_LANES_H
#define HIRC_OPERATIONS_LANES_H

#include "../device_abi.h"

#include <string.h>

// for (FOR_LANES(lane, lanes)): every lane of a mask, lowest first.
#define FOR_LANES(lane, mask)                                                                      \
  hirc_lane_set left_ = (mask), lane = left_ ? hirc_lowest_lane(left_) : 0;                        \
  left_;                                                                                           \
  left_ &= left_ - 1, lane = left_ ? hirc_lowest_lane(left_) : 0

// The place of one lane's operand or result.
static inline char *lane_slot(const struct hirc_stop_call *call, uint32_t slot, uint32_t lane) {
  return (char *)hirc_lanes(call, slot) + (size_t)call->stop->slots[slot].bytes * lane;
}

static inline uint32_t slot_bytes(const struct hirc_stop_call *call, uint32_t slot) {
  return call->stop->slots[slot].bytes;
}

// The number of the result's first slot.
static inline uint32_t result_slot(const struct hirc_stop_call *call) {
  return call->stop->operand_count;
}

static inline uint32_t first_lane(const struct hirc_stop_call *call) {
  return hirc_lowest_lane(call->lanes);
}

static inline int32_t parameter(const struct hirc_stop_call *call, uint32_t number) {
  return number < call->stop->parameter_count ? call->stop->parameters[number] : 0;
}

// Reads or writes an integer of the slot's own width.
static inline uint64_t read_integer(const char *from, uint32_t bytes) {
  switch (bytes) {
  case 1:
    return *(const uint8_t *)from;
  case 2:
    return *(const uint16_t *)from;
  case 4:
    return *(const uint32_t *)from;
  default:
    return *(const uint64_t *)from;
  }
}

static inline void write_integer(char *to, uint32_t bytes, uint64_t value) {
  switch (bytes) {
  case 1:
    *(uint8_t *)to = (uint8_t)value;
    break;
  case 2:
    *(uint16_t *)to = (uint16_t)value;
    break;
  case 4:
    *(uint32_t *)to = (uint32_t)value;
    break;
  default:
    *(uint64_t *)to = value;
  }
}

static inline void *read_pointer(const struct hirc_stop_call *call, uint32_t slot, uint32_t lane) {
  return (void *)(uintptr_t)read_integer(lane_slot(call, slot, lane), slot_bytes(call, slot));
}

#endif
