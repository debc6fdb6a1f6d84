// The files that a command writes: each appears whole or not at all, and is no other of its files.

#define _XOPEN_SOURCE 700

#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

static const int ending[] = {SIGHUP, SIGINT, SIGTERM};
// What is being written, for a signal that ends the command to remove.
static char unfinished[PATH_MAX];

_Noreturn static void refuse(const char *path) {
  int why = errno;
  if (unfinished[0])
    unlink(unfinished);
  hirc_command_fail(HIRC_EXIT_INPUT, "cannot write %s: %s", path, strerror(why));
}

static void set_path(const char *given, char *path, const char *format, const char *first,
                     const char *second) {
  if (snprintf(path, PATH_MAX, format, first, second) >= PATH_MAX) {
    errno = ENAMETOOLONG;
    refuse(given);
  }
}

// The path without links and dots of the file that a path names, or that it would make.
static void resolve(const char *given, char *resolved) {
  char path[PATH_MAX], target[PATH_MAX], folder[PATH_MAX];
  set_path(given, path, "%s%s", given, "");
  for (int links = 0; links < MOST_LINKS; ++links) {
    if (realpath(path, resolved))
      return;
    if (errno != ENOENT)
      refuse(given);
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    set_path(given, folder, "%s%s", slash ? path : ".", "");
    if (slash)
      folder[slash - path + 1] = '\0';
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) {
      char real[PATH_MAX];
      if (!realpath(folder, real))
        refuse(given);
      set_path(given, resolved, "%s/%s", real, name);
      return;
    }
    // A link to what is not there.
    target[length] = '\0';
    char next[PATH_MAX];
    if (target[0] == '/')
      set_path(given, next, "%s%s", target, "");
    else
      set_path(given, next, "%s/%s", folder, target);
    memcpy(path, next, sizeof path);
  }
  errno = ELOOP;
  refuse(given);
}

// Whether two paths name one file, which is or would be a regular one.
static bool is_same_file(const char *first, const char *second) {
  struct stat a, b;
  bool is_there = stat(first, &a) == 0;
  if (is_there && !S_ISREG(a.st_mode))
    return false; // /dev/null takes whatever comes
  if (is_there && stat(second, &b) == 0)
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  char one[PATH_MAX], other[PATH_MAX];
  resolve(first, one);
  resolve(second, other);
  return strcmp(one, other) == 0;
}

static void check_writable(const char *path) {
  struct stat status;
  if (stat(path, &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      errno = EISDIR;
      refuse(path);
    }
    if (access(path, W_OK) != 0)
      refuse(path);
    return;
  }
  char resolved[PATH_MAX];
  resolve(path, resolved);
  char *slash = strrchr(resolved, '/');
  slash[slash == resolved] = '\0';
  if (access(resolved, W_OK | X_OK) != 0)
    refuse(path);
}

// Fails for a file that cannot be written, and for one that is an input or another output, before
// anything runs. Makes no file.
void hirc_check_outputs(const struct hirc_program_info *program,
                        const struct hirc_arguments *arguments) {
  int64_t count = program->output_count + program->input_count;
  for (int64_t i = 0; i < count; ++i) {
    const char *path = arguments->outputs[i];
    if (!path)
      continue;
    check_writable(path);
    for (int64_t other = 0; other < i; ++other)
      if (arguments->outputs[other] && is_same_file(path, arguments->outputs[other]))
        hirc_command_fail(HIRC_EXIT_USAGE, "two outputs go to one file: %s and %s",
                          arguments->outputs[other], path);
    for (int64_t input = 0; input < program->input_count; ++input)
      if (access(arguments->inputs[input], F_OK) == 0 &&
          is_same_file(path, arguments->inputs[input]))
        hirc_command_fail(HIRC_EXIT_USAGE, "output %s is the file of input '%s'", path,
                          program->inputs[input].name);
  }
}

static void end_unfinished(int number) {
  unlink(unfinished);
  signal(number, SIG_DFL);
  raise(number);
}

static void handle_ending(void (*handler)(int)) {
  for (size_t i = 0; i < sizeof ending / sizeof *ending; ++i) {
    struct sigaction before;
    if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      signal(ending[i], handler);
  }
}

// A file to write `path` to: beside it, or itself where it is a device or its folder takes none.
FILE *hirc_open_output(const char *path) {
  struct stat status;
  bool is_there = stat(path, &status) == 0;
  char resolved[PATH_MAX];
  resolve(path, resolved);
  unfinished[0] = '\0';
  // A file beyond the limit on sizes is an error, not a signal.
  signal(SIGXFSZ, SIG_IGN);
  if (!is_there || S_ISREG(status.st_mode)) {
    const char *slash = strrchr(resolved, '/');
    char beside[PATH_MAX];
    set_path(path, beside, "%s%s", resolved, "");
    beside[slash - resolved + 1] = '\0';
    set_path(path, unfinished, "%s%s", beside, ".hirc-XXXXXX");
    int file = mkstemp(unfinished);
    if (file >= 0) {
      handle_ending(end_unfinished);
      mode_t mask = umask(0);
      umask(mask);
      fchmod(file, 0666 & ~mask);
      return fdopen(file, "wb");
    }
    unfinished[0] = '\0';
    if (!is_there)
      refuse(path);
  }
  FILE *file = fopen(path, "wb");
  if (!file)
    refuse(path);
  return file;
}

// Puts the file in its place. Ends the command where something was not written.
void hirc_close_output(const char *path, FILE *file) {
  bool is_whole = !ferror(file) && fflush(file) == 0;
  int why = errno;
  if (fclose(file) != 0 || !is_whole) {
    errno = is_whole ? errno : why;
    refuse(path);
  }
  if (unfinished[0]) {
    char resolved[PATH_MAX];
    resolve(path, resolved);
    if (rename(unfinished, resolved) != 0)
      refuse(path);
    handle_ending(SIG_DFL);
    unfinished[0] = '\0';
  }
}

// Lets the three standard streams be there: a closed one stays one that cannot be used, but no
// file of the command's gets its number.
void hirc_reserve_streams(void) {
  for (int number = 0; number < 3; ++number)
    if (fcntl(number, F_GETFD) < 0)
      open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
}
