// The client of command_server.py: sends this process's arguments, folder, environment and streams,
// waits for the command, and ends as it did.

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *request;
static size_t size, room;

static void fail(const char *what) {
  perror(what);
  exit(70);
}

static void add(const char *text) {
  size_t length = strlen(text) + 1;
  while (size + length > room) {
    room = 2 * room + length;
    request = realloc(request, room);
    if (request == NULL)
      fail("command client");
  }
  memcpy(request + size, text, length);
  size += length;
}

static int connected(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  ssize_t length = readlink("/proc/self/exe", address.sun_path, sizeof address.sun_path - 1);
  if (length < 0)
    fail("/proc/self/exe");
  char *name = strrchr(address.sun_path, '/') + 1;
  if (name + sizeof "socket" > address.sun_path + sizeof address.sun_path) {
    fputs("command client: the folder's name is too long\n", stderr);
    exit(70);
  }
  strcpy(name, "socket");
  int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address) != 0)
    fail("command client: connect");
  return server;
}

static void send_all(int server) {
  uint32_t head = (uint32_t)size;
  struct iovec part = {&head, sizeof head};
  union {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(3 * sizeof(int))];
  } control = {0};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  struct cmsghdr *streams = CMSG_FIRSTHDR(&message);
  streams->cmsg_level = SOL_SOCKET;
  streams->cmsg_type = SCM_RIGHTS;
  streams->cmsg_len = CMSG_LEN(3 * sizeof(int));
  memcpy(CMSG_DATA(streams), (int[]){0, 1, 2}, 3 * sizeof(int));
  if (sendmsg(server, &message, MSG_NOSIGNAL) != sizeof head)
    fail("command client: send");
  for (size_t sent = 0; sent < size;) {
    ssize_t done = send(server, request + sent, size - sent, MSG_NOSIGNAL);
    if (done <= 0)
      fail("command client: send");
    sent += (size_t)done;
  }
}

int main(int count, char **arguments) {
  char folder[4096], number[16];
  if (getcwd(folder, sizeof folder) == NULL)
    fail("command client: folder");
  snprintf(number, sizeof number, "%d", count);
  add(folder);
  add(number);
  for (char **each = arguments; *each != NULL; each++)
    add(*each);
  for (char **each = environ; *each != NULL; each++)
    add(*each);
  int server = connected();
  send_all(server);
  int32_t status;
  if (recv(server, &status, sizeof status, MSG_WAITALL) != sizeof status) {
    fputs("command client: the server has ended\n", stderr);
    return 70;
  }
  if (WIFSIGNALED(status)) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  return WEXITSTATUS(status);
}
