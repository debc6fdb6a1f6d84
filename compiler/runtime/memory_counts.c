// Counts what host programs allocate, while that is switched on. Free of CUDA.
//
// State: see streams.c.

#include "memory_counts.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

__attribute__((weak, visibility("hidden"))) struct memory_ledger hirc_state_memory_ledger_1;

static struct memory_ledger *lock(void) {
  struct memory_ledger *ledger = &hirc_state_memory_ledger_1;
  while (atomic_exchange_explicit(&ledger->locked, 1, memory_order_acquire))
    sched_yield();
  return ledger;
}

static void unlock(struct memory_ledger *ledger) {
  atomic_store_explicit(&ledger->locked, 0, memory_order_release);
}

// Where `memory` is, or is to be; the table has a free place.
static size_t place_of(const struct memory_ledger *ledger, const void *memory) {
  uint64_t hash = ((uint64_t)(uintptr_t)memory >> 4) * UINT64_C(0x9e3779b97f4a7c15);
  size_t place = (size_t)(hash >> 32) & (ledger->room - 1);
  while (ledger->places[place].memory && ledger->places[place].memory != memory)
    place = (place + 1) & (ledger->room - 1);
  return place;
}

// Makes room for one more; false if there is no memory for it.
static int grow(struct memory_ledger *ledger) {
  if (2 * (ledger->used + 1) <= ledger->room)
    return 1;
  struct memory_ledger larger = {.room = ledger->room ? 2 * ledger->room : 64};
  larger.places = calloc(larger.room, sizeof *larger.places);
  if (!larger.places)
    return 0;
  for (size_t i = 0; i < ledger->room; ++i)
    if (ledger->places[i].memory)
      larger.places[place_of(&larger, ledger->places[i].memory)] = ledger->places[i];
  free(ledger->places);
  ledger->places = larger.places;
  ledger->room = larger.room;
  return 1;
}

__attribute__((cold, noinline)) void hirc_count_allocation(void *memory, int64_t bytes) {
  struct memory_ledger *ledger = lock();
  if (grow(ledger)) {
    struct counted_memory *place = &ledger->places[place_of(ledger, memory)];
    *place = (struct counted_memory){memory, bytes};
    ++ledger->used;
    ++ledger->counts.allocations;
    ledger->counts.live_bytes += bytes;
    if (ledger->counts.live_bytes > ledger->counts.peak_bytes)
      ledger->counts.peak_bytes = ledger->counts.live_bytes;
  }
  unlock(ledger);
}

// Frees the place, and moves those after it that it kept from their own.
static void forget(struct memory_ledger *ledger, size_t place) {
  ledger->places[place].memory = NULL;
  --ledger->used;
  for (size_t next = (place + 1) & (ledger->room - 1); ledger->places[next].memory;
       next = (next + 1) & (ledger->room - 1)) {
    struct counted_memory moved = ledger->places[next];
    ledger->places[next].memory = NULL;
    ledger->places[place_of(ledger, moved.memory)] = moved;
  }
}

// Memory that was allocated before counting was switched on is passed over.
__attribute__((cold, noinline)) void hirc_count_deallocation(void *memory) {
  struct memory_ledger *ledger = lock();
  size_t place = ledger->room ? place_of(ledger, memory) : 0;
  if (ledger->room && ledger->places[place].memory) {
    ++ledger->counts.deallocations;
    ledger->counts.live_bytes -= ledger->places[place].bytes;
    forget(ledger, place);
  }
  unlock(ledger);
}

// Switches counting on, from nothing, or off.
void hirc_count_memory(int on) {
  struct memory_ledger *ledger = lock();
  if (on) {
    free(ledger->places);
    ledger->places = NULL;
    ledger->room = ledger->used = 0;
    ledger->counts = (struct hirc_memory_counts){0};
  }
  atomic_store_explicit(&ledger->on, on != 0, memory_order_relaxed);
  unlock(ledger);
}

// What was allocated through hirc_allocate since counting was switched on.
void hirc_memory_counts(struct hirc_memory_counts *counts) {
  struct memory_ledger *ledger = lock();
  *counts = ledger->counts;
  unlock(ledger);
}
