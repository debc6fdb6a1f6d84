// The connection of a process with the others: a socket to the hub of rank 0, and a thread that
// reads it. Free of CUDA.
//
// The thread notices what the hub says, above all that a process has failed or is gone; and it looks
// several times a second whether what was begun still goes on (communicate.c). A failure is for
// good: the processes cannot know any more what the others do.

#define _GNU_SOURCE
#include "world.h"
#include "calls.h"
#include "failure.h"
#include "hirc_runtime.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { TICK = 100, SECONDS_FOR_NEWS = 20 };

struct value {
  struct value *next;
  uint32_t count;
  char key[HIRC_WORLD_KEY_BYTES];
  char bytes[];
};

static struct {
  pthread_mutex_t lock; // of all that follows, and of what is written to the socket
  pthread_cond_t news;
  int socket, is_connected, leaves;
  pid_t process; // a fork has no thread, and may not use the socket
  pthread_t reader;
  struct value *values;
  hirc_world_look *look;
} own = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER, .socket = -1};

static _Atomic(char *) failure;

const char *hirc_world_failure(void) {
  return atomic_load_explicit(&failure, memory_order_acquire);
}

__attribute__((cold, noinline)) static _Noreturn void refuse(const char *location,
                                                             const char *what, const char *why) {
  hirc_error_begin(location);
  hirc_error_add("%s: %s", what, why);
  hirc_fail(hirc_end_program);
}

static void learn(const char *why, size_t length) {
  char *text = strndup(why, length), *none = NULL;
  if (!text || !atomic_compare_exchange_strong(&failure, &none, text))
    free(text);
  pthread_mutex_lock(&own.lock);
  pthread_cond_broadcast(&own.news);
  hirc_world_look *look = own.look;
  pthread_mutex_unlock(&own.lock);
  if (look)
    look();
}

void hirc_world_fail(const char *why) {
  if (hirc_world_failure())
    return;
  struct hirc_hub_message message = {HIRC_HUB_FAIL, 0, 0, (uint32_t)strlen(why)};
  pthread_mutex_lock(&own.lock);
  if (own.is_connected)
    hirc_hub_write(own.socket, &message, NULL, why);
  int is_told = own.is_connected;
  pthread_mutex_unlock(&own.lock);
  learn(why, strlen(why));
  if (is_told)
    hirc_hub_pass_on(1);
}

void hirc_world_check(const char *location) {
  const char *why = hirc_world_failure();
  if (__builtin_expect(why == NULL, 1))
    return;
  char last[HIRC_WORLD_TEXT_BYTES];
  hirc_error_begin(location);
  hirc_error_add("the processes cannot go on together: %s", why);
  if (hirc_communication_last && hirc_communication_last(last))
    hirc_error_add("\nnote: rank %d was in %s", hirc_world(location)->rank, last);
  hirc_fail(hirc_end_program);
}

// --- the thread ----------------------------------------------------------------------------------

static int receive(void) {
  struct hirc_hub_message message;
  if (hirc_hub_read(own.socket, &message, sizeof message) != 0 ||
      message.key_bytes >= HIRC_WORLD_KEY_BYTES)
    return -1;
  struct value *value = calloc(1, sizeof *value + message.count + 1);
  if (!value || hirc_hub_read(own.socket, value->key, message.key_bytes) != 0 ||
      hirc_hub_read(own.socket, value->bytes, message.count) != 0) {
    free(value);
    return -1;
  }
  value->count = message.count;
  if (message.kind == HIRC_HUB_FAIL) {
    learn(value->bytes, value->count);
    free(value);
    return 0;
  }
  pthread_mutex_lock(&own.lock);
  struct value **last = &own.values;
  while (*last)
    last = &(*last)->next;
  *last = value;
  pthread_cond_broadcast(&own.news);
  pthread_mutex_unlock(&own.lock);
  return 0;
}

static void *run(void *unused) {
  (void)unused;
  struct pollfd polled = {own.socket, POLLIN, 0};
  for (;;) {
    int ready = poll(&polled, 1, TICK);
    pthread_mutex_lock(&own.lock);
    int leaves = own.leaves;
    hirc_world_look *look = own.look;
    pthread_mutex_unlock(&own.lock);
    if (leaves)
      return NULL;
    if (ready > 0 && receive() != 0) {
      static const char why[] = "the process of rank 0 has ended";
      learn(why, sizeof why - 1);
      return NULL;
    }
    if (look)
      look();
  }
}

void hirc_world_watch(hirc_world_look *look) {
  pthread_mutex_lock(&own.lock);
  own.look = look;
  pthread_mutex_unlock(&own.lock);
}

// --- connecting ----------------------------------------------------------------------------------

struct place {
  struct sockaddr_storage address;
  socklen_t size;
};

// What is wrong with the address, NULL where it was found.
static const char *find_place(const char *text, struct place *place) {
  memset(place, 0, sizeof *place);
  if (strncmp(text, "unix:", 5) == 0) {
    struct sockaddr_un *local = (struct sockaddr_un *)&place->address;
    size_t length = strlen(text + 5);
    if (length == 0 || length + 1 >= sizeof local->sun_path)
      return "its name has no or too many characters";
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path + 1, text + 5, length); // no file: it goes with its process
    place->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    return NULL;
  }
  char host[HIRC_WORLD_ADDRESS_BYTES];
  const char *colon = strrchr(text, ':');
  snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  int rc = getaddrinfo(host, colon + 1, &hints, &found);
  if (rc != 0)
    return gai_strerror(rc);
  memcpy(&place->address, found->ai_addr, found->ai_addrlen);
  place->size = found->ai_addrlen;
  freeaddrinfo(found);
  return NULL;
}

// Of two linked files in one process the first has the hub: the second finds the address taken.
static void begin_hub(const struct place *place, int size, int all_come, const char *location) {
  int family = place->address.ss_family, yes = 1;
  int listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (family != AF_UNIX && listener >= 0)
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (listener < 0 || bind(listener, (const struct sockaddr *)&place->address, place->size) != 0) {
    int error = errno;
    if (listener >= 0)
      close(listener);
    if (error != EADDRINUSE)
      refuse(location, "rank 0 cannot listen for the other processes", strerror(error));
    return;
  }
  if (listen(listener, SOMAXCONN) != 0 || hirc_hub_begin(listener, size, all_come) != 0) {
    close(listener);
    refuse(location, "rank 0 cannot listen for the other processes", "no thread or socket is left");
  }
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

// The hub may not be there yet.
static int reach_hub(const struct place *place, int seconds) {
  for (int64_t until = now() + seconds;; usleep(TICK * 1000 / 4)) {
    int family = place->address.ss_family, yes = 1;
    int found = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (found < 0)
      return -1;
    if (connect(found, (const struct sockaddr *)&place->address, place->size) == 0) {
      struct ucred peer;
      socklen_t size = sizeof peer;
      if (family != AF_UNIX || (getsockopt(found, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                                peer.uid == getuid())) {
        if (family != AF_UNIX)
          setsockopt(found, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        return found;
      }
      errno = EPERM; // another user's
    }
    int error = errno;
    close(found);
    errno = error;
    if (now() >= until)
      return -1;
  }
}

void hirc_world_leave(void) {
  if (!own.is_connected || own.process != getpid())
    return;
  struct hirc_hub_message bye = {HIRC_HUB_BYE, 0, 0, 0};
  pthread_mutex_lock(&own.lock);
  own.leaves = 1;
  own.is_connected = 0;
  hirc_hub_write(own.socket, &bye, NULL, NULL);
  pthread_mutex_unlock(&own.lock);
  shutdown(own.socket, SHUT_WR);
  pthread_join(own.reader, NULL);
  hirc_hub_end(hirc_world_failure() ? 1 : hirc_world(NULL)->seconds);
  close(own.socket);
}

// No key and no bytes follow, though it has a count.
static int say_hello(int socket, const struct hirc_world *world) {
  struct hirc_hub_message hello = {HIRC_HUB_HELLO, (uint32_t)world->rank, 0,
                                   (uint32_t)world->size};
  return send(socket, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello ? 0 : -1;
}

// The process that may be awaited; 0 where it is not.
static pid_t awaited;

static void end_alone(void) {
  if (awaited != getpid() || own.is_connected || !hirc_world_has_address(NULL))
    return;
  awaited = 0;
  const struct hirc_world *world = hirc_world(NULL);
  char address[HIRC_WORLD_ADDRESS_BYTES], why[HIRC_WORLD_TEXT_BYTES];
  hirc_world_address(address, NULL);
  struct place place;
  if (find_place(address, &place))
    return;
  if (world->rank == 0)
    begin_hub(&place, world->size, 1, NULL);
  int seconds = world->seconds < SECONDS_FOR_NEWS ? world->seconds : SECONDS_FOR_NEWS;
  int hub = reach_hub(&place, seconds);
  if (hub < 0)
    return;
  snprintf(why, sizeof why, "the process of rank %d ended before it communicated", world->rank);
  struct hirc_hub_message message = {HIRC_HUB_FAIL, 0, 0, (uint32_t)strlen(why)};
  if (say_hello(hub, world) == 0)
    hirc_hub_write(hub, &message, NULL, why);
  close(hub);
  hirc_hub_end(seconds);
}

void hirc_world_expect(int is_awaited) {
  static int is_registered;
  awaited = is_awaited ? getpid() : 0;
  if (is_awaited && !is_registered)
    is_registered = atexit(end_alone) == 0;
}

static void connect_world(const char *location) {
  const struct hirc_world *world = hirc_world(location);
  if (own.is_connected) {
    if (own.process != getpid())
      refuse(location, "communication", "a process that was forked after the first one has none");
    return;
  }
  awaited = 0;
  char address[HIRC_WORLD_ADDRESS_BYTES], what[2 * HIRC_WORLD_ADDRESS_BYTES];
  hirc_world_address(address, location);
  struct place place;
  const char *wrong = find_place(address, &place);
  snprintf(what, sizeof what, "rank %d does not find rank 0 at %s", world->rank, address);
  if (wrong)
    refuse(location, what, wrong);
  if (world->rank == 0)
    begin_hub(&place, world->size, 0, location);
  own.socket = reach_hub(&place, world->seconds);
  if (own.socket < 0)
    refuse(location, what, strerror(errno));
  own.process = getpid();
  if (say_hello(own.socket, world) != 0 ||
      pthread_create(&own.reader, NULL, run, NULL) != 0) {
    close(own.socket);
    refuse(location, what, "the connection was closed, or no thread is left");
  }
  own.is_connected = 1;
  atexit(hirc_world_leave);
}

static void leave_alone(void) {
  if (own.process != getpid() || own.is_connected)
    return;
  pthread_mutex_lock(&own.lock);
  own.leaves = 1;
  pthread_mutex_unlock(&own.lock);
  pthread_join(own.reader, NULL);
}

static void send_message(enum hirc_hub_kind kind, const char *key, const void *bytes,
                         uint32_t count, const char *location) {
  struct hirc_hub_message message = {kind, 0, (uint32_t)strlen(key), count};
  pthread_mutex_lock(&own.lock);
  int rc = hirc_hub_write(own.socket, &message, key, bytes);
  if (rc != 0) {
    // Why rank 0 is gone it said before: that is read by the thread.
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SECONDS_FOR_NEWS;
    while (!hirc_world_failure() &&
           pthread_cond_timedwait(&own.news, &own.lock, &until) == 0)
      ;
  }
  pthread_mutex_unlock(&own.lock);
  if (rc != 0) {
    hirc_world_check(location);
    refuse(location, "the connection to rank 0", "it was closed");
  }
}

// Programs may run in several threads.
static pthread_mutex_t connecting = PTHREAD_MUTEX_INITIALIZER;

static void unlock(void *mutex, void *stream) {
  (void)stream;
  pthread_mutex_unlock(mutex);
}

static void connect_once(const char *location) {
  pthread_mutex_lock(&connecting);
  hirc_own(&connecting, unlock, HIRC_OBJECT, location);
  connect_world(location);
  hirc_disown(&connecting, HIRC_OBJECT);
  pthread_mutex_unlock(&connecting);
}

void hirc_world_begin(const char *location) {
  if (hirc_world_has_address(location)) {
    connect_once(location);
    return;
  }
  pthread_mutex_lock(&connecting);
  int is_first = own.process == 0;
  int rc = is_first ? pthread_create(&own.reader, NULL, run, NULL) : 0;
  if (is_first && rc == 0) {
    own.process = getpid();
    atexit(leave_alone);
  }
  pthread_mutex_unlock(&connecting);
  if (rc != 0)
    refuse(location, "communication", "no thread is left");
}

void hirc_world_give_up(const char *why, const char *location) {
  if (hirc_world_has_address(location))
    connect_once(location);
  hirc_world_fail(why);
}

void hirc_world_give(const char *key, const void *bytes, uint32_t count, const char *location) {
  connect_once(location);
  send_message(HIRC_HUB_GIVE, key, bytes, count, location);
}

static struct value *find(const char *key) {
  for (struct value **each = &own.values; *each; each = &(*each)->next)
    if (strcmp((*each)->key, key) == 0) {
      struct value *found = *each;
      *each = found->next;
      return found;
    }
  return NULL;
}

void hirc_world_take(const char *key, void *bytes, uint32_t count, const char *location) {
  connect_once(location);
  send_message(HIRC_HUB_TAKE, key, NULL, 0, location);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += hirc_world(location)->seconds;
  struct value *found;
  int rc = 0;
  pthread_mutex_lock(&own.lock);
  while (!(found = find(key)) && rc == 0 && !hirc_world_failure())
    rc = pthread_cond_timedwait(&own.news, &own.lock, &until);
  pthread_mutex_unlock(&own.lock);
  if (!found) {
    hirc_world_check(location);
    refuse(location, "a process waited in vain for the others to begin", key);
  }
  memcpy(bytes, found->bytes, found->count < count ? found->count : count);
  free(found);
}
