// The hub: a thread of rank 0 that every process is connected to, rank 0 too.
//
// It keeps what was given under each key, for all take it, and tells everybody when one says that it
// failed or leaves without saying goodbye. Free of CUDA.

#define _GNU_SOURCE
#include "world.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST_MESSAGE = 1 << 20, TICK = 200 };

// A message. Linked files of one process have keys of their own: what one of them was given is for
// the same one of the other processes.
struct given {
  struct given *next;
  char *key;
  char *bytes;
  uint32_t count;
  int number;
};

// One who takes: how many messages of a key it had, and whether it waits for another.
struct taken {
  struct taken *next;
  char *key;
  unsigned had;
  int waits;
};

struct member {
  int socket; // -1: gone
  int rank;   // -1: it has not said hello
  int number; // of a process's linked files that communicate, in the order of their hellos
  int left;   // it said goodbye
  int is_here; // it is of this process, whose end it does not outlive
  struct taken *taken;
};

static struct {
  int listener, size;
  struct member *members;
  size_t count;
  struct given *first, **last;
  char failure[HIRC_WORLD_TEXT_BYTES];
  pthread_t thread;
  pthread_mutex_t lock; // of `done` and `told`
  pthread_cond_t over;
  int runs, done, told, all_come; // told: all have heard of a failure
  _Atomic int ends; // this process does
} hub = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

int hirc_hub_read(int socket, void *bytes, size_t count) {
  for (size_t at = 0; at < count;) {
    ssize_t read = recv(socket, (char *)bytes + at, count - at, 0);
    if (read == 0 || (read < 0 && errno != EINTR))
      return -1;
    at += read > 0 ? (size_t)read : 0;
  }
  return 0;
}

static int write_all(int socket, const void *bytes, size_t count) {
  for (size_t at = 0; at < count;) {
    ssize_t written = send(socket, (const char *)bytes + at, count - at, MSG_NOSIGNAL);
    if (written < 0 && errno != EINTR)
      return -1;
    at += written > 0 ? (size_t)written : 0;
  }
  return 0;
}

int hirc_hub_write(int socket, const struct hirc_hub_message *message, const void *key,
                   const void *bytes) {
  if (write_all(socket, message, sizeof *message) != 0 ||
      write_all(socket, key, message->key_bytes) != 0)
    return -1;
  return write_all(socket, bytes, message->count);
}

static void tell(struct member *member) {
  struct hirc_hub_message message = {HIRC_HUB_FAIL, 0, 0, (uint32_t)strlen(hub.failure)};
  if (member->socket >= 0)
    hirc_hub_write(member->socket, &message, NULL, hub.failure);
}

static void fail(const char *why) {
  if (hub.failure[0])
    return;
  snprintf(hub.failure, sizeof hub.failure, "%s", why);
  for (size_t i = 0; i < hub.count; ++i)
    tell(&hub.members[i]);
  pthread_mutex_lock(&hub.lock);
  hub.told = 1;
  pthread_cond_broadcast(&hub.over);
  pthread_mutex_unlock(&hub.lock);
}

// Hands the member what it waits for, where that was given.
static void serve(struct member *member, struct taken *taken) {
  unsigned place = 0;
  for (struct given *each = hub.first; each && taken->waits; each = each->next) {
    if (each->number != member->number || strcmp(each->key, taken->key) != 0 ||
        place++ < taken->had)
      continue;
    struct hirc_hub_message message = {HIRC_HUB_VALUE, 0, (uint32_t)strlen(each->key), each->count};
    taken->had++;
    taken->waits--;
    hirc_hub_write(member->socket, &message, each->key, each->bytes);
  }
}

static void serve_all(void) {
  for (size_t i = 0; i < hub.count; ++i)
    for (struct taken *each = hub.members[i].taken; each; each = each->next)
      if (hub.members[i].socket >= 0)
        serve(&hub.members[i], each);
}

static int take(struct member *member, const char *key) {
  struct taken *each = member->taken;
  while (each && strcmp(each->key, key) != 0)
    each = each->next;
  if (!each) {
    each = calloc(1, sizeof *each);
    if (!each || !(each->key = strdup(key))) {
      free(each);
      return -1;
    }
    each->next = member->taken;
    member->taken = each;
  }
  each->waits++;
  serve(member, each);
  return 0;
}

static int give(const struct member *member, char *key, char *bytes, uint32_t count) {
  struct given *given = calloc(1, sizeof *given);
  if (!given)
    return -1;
  *given = (struct given){NULL, key, bytes, count, member->number};
  *hub.last = given;
  hub.last = &given->next;
  serve_all();
  return 0;
}

static void hello(struct member *member, const struct hirc_hub_message *message) {
  char why[HIRC_WORLD_TEXT_BYTES];
  if ((int)message->count != hub.size) {
    snprintf(why, sizeof why, "rank %u was started as one of %u processes, rank 0 as one of %d",
             message->rank, message->count, hub.size);
    fail(why);
  }
  for (size_t i = 0; i < hub.count; ++i)
    member->number += hub.members[i].rank == (int)message->rank;
  member->rank = (int)message->rank;
  if (hub.failure[0])
    tell(member);
}

// A message of the member's. Returns -1 where it is gone.
static int answer(struct member *member) {
  struct hirc_hub_message message;
  if (hirc_hub_read(member->socket, &message, sizeof message) != 0 ||
      message.key_bytes > LARGEST_MESSAGE || message.count > LARGEST_MESSAGE)
    return -1;
  if (message.kind == HIRC_HUB_HELLO) {
    hello(member, &message);
    return 0;
  }
  char *key = calloc(1, message.key_bytes + 1), *bytes = calloc(1, message.count + 1);
  int rc = -1;
  if (key && bytes && hirc_hub_read(member->socket, key, message.key_bytes) == 0 &&
      hirc_hub_read(member->socket, bytes, message.count) == 0) {
    rc = 0;
    if (message.kind == HIRC_HUB_GIVE) {
      rc = give(member, key, bytes, message.count);
      if (rc == 0)
        key = bytes = NULL;
    } else if (message.kind == HIRC_HUB_TAKE) {
      rc = take(member, key);
    } else if (message.kind == HIRC_HUB_FAIL) {
      fail(bytes);
    } else if (message.kind == HIRC_HUB_BYE) {
      member->left = 1;
    }
  }
  free(key);
  free(bytes);
  return rc;
}

static void lose(struct member *member) {
  close(member->socket);
  member->socket = -1;
  if (member->left || member->rank < 0)
    return;
  char why[HIRC_WORLD_TEXT_BYTES];
  snprintf(why, sizeof why, "the process of rank %d has ended", member->rank);
  fail(why);
}

static void accept_one(void) {
  int socket = accept4(hub.listener, NULL, NULL, SOCK_CLOEXEC);
  if (socket < 0)
    return;
  struct ucred peer = {0};
  socklen_t size = sizeof peer;
  // A socket of this machine's is for processes of one user.
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0 &&
      peer.uid != getuid()) {
    close(socket);
    return;
  }
  struct member *larger = realloc(hub.members, (hub.count + 1) * sizeof *larger);
  if (!larger) {
    close(socket);
    return;
  }
  hub.members = larger;
  int is_here = size == sizeof peer && peer.pid == getpid();
  hub.members[hub.count++] = (struct member){.socket = socket, .rank = -1, .is_here = is_here};
}

// Whether everybody was there and is gone, or said goodbye. After a failure those who come later
// find no hub, but for rank 0, which has it: another may have failed before that is connected.
static int is_over(void) {
  int here = 0, came = 0, has_rank_0 = 0;
  for (size_t i = 0; i < hub.count; ++i) {
    const struct member *each = &hub.members[i];
    here += each->socket >= 0 && !each->left && !(each->is_here && hub.ends);
    came += hub.members[i].rank >= 0;
    has_rank_0 |= hub.members[i].rank == 0;
  }
  return here == 0 && (came >= hub.size || (hub.failure[0] && !hub.all_come && has_rank_0));
}

static void *run(void *unused) {
  (void)unused;
  while (!is_over()) {
    struct pollfd *polled = calloc(hub.count + 1, sizeof *polled);
    if (!polled)
      break;
    size_t count = hub.count;
    polled[0] = (struct pollfd){hub.listener, POLLIN, 0};
    for (size_t i = 0; i < count; ++i)
      polled[i + 1] = (struct pollfd){hub.members[i].socket, POLLIN, 0};
    if (poll(polled, count + 1, TICK) > 0) {
      for (size_t i = 0; i < count; ++i)
        if (polled[i + 1].revents && answer(&hub.members[i]) != 0)
          lose(&hub.members[i]);
      if (polled[0].revents)
        accept_one();
    }
    free(polled);
  }
  pthread_mutex_lock(&hub.lock);
  hub.done = 1;
  pthread_cond_broadcast(&hub.over);
  pthread_mutex_unlock(&hub.lock);
  return NULL;
}

// Returns what pthread_create does.
int hirc_hub_begin(int listener, int size, int all_come) {
  hub.listener = listener;
  hub.size = size;
  hub.all_come = all_come;
  hub.last = &hub.first;
  int rc = pthread_create(&hub.thread, NULL, run, NULL);
  hub.runs = rc == 0;
  return rc;
}

// Waits until a failure that this process told of is told to all, for some time: it may end now, and
// the hub with it.
void hirc_hub_pass_on(int seconds) {
  if (!hub.runs)
    return;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += seconds;
  pthread_mutex_lock(&hub.lock);
  for (int rc = 0; !hub.told && !hub.done && rc == 0;)
    rc = pthread_cond_timedwait(&hub.over, &hub.lock, &until);
  pthread_mutex_unlock(&hub.lock);
}

// Waits until everybody has said goodbye, for some time.
void hirc_hub_end(int seconds) {
  if (!hub.runs)
    return;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += seconds;
  hub.ends = 1;
  pthread_mutex_lock(&hub.lock);
  int rc = 0;
  while (!hub.done && rc == 0)
    rc = pthread_cond_timedwait(&hub.over, &hub.lock, &until);
  int done = hub.done;
  pthread_mutex_unlock(&hub.lock);
  if (done)
    pthread_join(hub.thread, NULL);
  close(hub.listener);
  hub.runs = 0;
}
