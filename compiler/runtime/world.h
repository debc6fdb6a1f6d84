// The processes that run a program together, one for each device: which of them this one is, and
// how they find each other. See world.c.
#ifndef HIRC_WORLD_H
#define HIRC_WORLD_H

#include <stddef.h>
#include <stdint.h>

struct hirc_world {
  int rank, size;
  int local_rank; // among the processes of this machine
  int seconds;    // how long a process waits for another one
};

enum { HIRC_WORLD_ADDRESS_BYTES = 256, HIRC_WORLD_KEY_BYTES = 256, HIRC_WORLD_TEXT_BYTES = 512 };

// Read from the environment once: `size` is 1 where nothing is set. Fails where it is wrong.
const struct hirc_world *hirc_world(const char *location);

// This process is that one of so many, whatever the environment says. They meet at `address`; NULL:
// where the environment says, if it speaks of the same processes. Call it before they communicate.
void hirc_world_set(int rank, int size, const char *address, const char *location);

// Whether it is known where they meet.
int hirc_world_has_address(const char *location);

// Where they meet: "unix:NAME", a socket of this machine's, or "HOST:PORT". Fails where the
// environment does not say.
void hirc_world_address(char address[HIRC_WORLD_ADDRESS_BYTES], const char *location);

// Hands a message to all who take one of that key. What a process gives and takes under a key is
// in the order of its calls: the n-th message given is the n-th that each takes. Taking waits for
// it, and fails where a process has failed meanwhile, or the time is over.
void hirc_world_give(const char *key, const void *bytes, uint32_t count, const char *location);
void hirc_world_take(const char *key, void *bytes, uint32_t count, const char *location);

// Why the processes cannot go on together, NULL while they can.
const char *hirc_world_failure(void);

// Tells all that they cannot, unless that is known already.
void hirc_world_fail(const char *why);

// The same of a process that may not have met the others yet: meets them first, and fails where it
// cannot.
void hirc_world_give_up(const char *why, const char *location);

// Says goodbye to the others; rank 0 waits until all have. Done when the process exits.
void hirc_world_leave(void);

// Fails with that reason where there is one.
void hirc_world_check(const char *location);

// Begins to hear of the others' failures where it is known how, and to look for one's own.
void hirc_world_begin(const char *location);

// Whether the others may wait for this process before it meets them: one that ends meanwhile meets
// them to say so, where it is known how and they are there within seconds.
void hirc_world_expect(int is_awaited);

// Called several times a second, and once more when a failure becomes known, by a thread of this library.
// May call hirc_world_fail. It may not fail itself.
typedef void hirc_world_look(void);
void hirc_world_watch(hirc_world_look *look);

// What a command or a wait asks for: in programs that communicate (communicate.c) alone.
//
// Takes the device of this process's place on its machine, and returns its rank; -1 where it is the
// only one.
__attribute__((weak, visibility("hidden"))) int hirc_communication_begin(void);
// Compares what the processes did. Fails where they differ.
__attribute__((weak, visibility("hidden"))) void hirc_communication_agree(void);
// Fails where what the host waited for was given up.
__attribute__((weak, visibility("hidden"))) void hirc_communication_check(const char *location);

// What this process was in last; returns 0 where that was nothing.
__attribute__((weak, visibility("hidden"))) int
hirc_communication_last(char text[HIRC_WORLD_TEXT_BYTES]);

// world_hub.c. The hub of rank 0: passes messages on, and notices who is gone.
// With `all_come` it goes on after a failure until all have heard of it.
int hirc_hub_begin(int listener, int size, int all_come);
void hirc_hub_end(int seconds);
void hirc_hub_pass_on(int seconds);

// What goes through the sockets: this, a key and bytes.
enum hirc_hub_kind {
  HIRC_HUB_HELLO, // `rank` and `count`, the number of processes
  HIRC_HUB_GIVE,
  HIRC_HUB_TAKE,
  HIRC_HUB_VALUE, // to who takes
  HIRC_HUB_FAIL,  // the reason
  HIRC_HUB_BYE,
};
struct hirc_hub_message {
  uint32_t kind, rank, key_bytes, count;
};
int hirc_hub_write(int socket, const struct hirc_hub_message *message, const void *key,
                   const void *bytes);
int hirc_hub_read(int socket, void *bytes, size_t count);

#endif
