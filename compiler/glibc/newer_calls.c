/* Functions that headers of a newer glibc call, by what glibc 2.28 has.
 *
 * stat and its like are functions since 2.33; before, headers called __xstat with the struct's
 * version. The __isoc23 functions, since 2.38, read binary numbers too, which nothing here needs.
 */

#include <stdarg.h>
#include <stdio.h>

#define LOCAL __attribute__((visibility("hidden")))

enum { STRUCT_VERSION = 1 };

struct stat;
int __xstat(int, const char *, struct stat *);
int __lxstat(int, const char *, struct stat *);
int __fxstat(int, int, struct stat *);
int __fxstatat(int, int, const char *, struct stat *, int);

/* Of 64-bit systems stat64 has the same struct. */
#define STAT(suffix)                                                                               \
  LOCAL int stat##suffix(const char *path, struct stat *out) {                                     \
    return __xstat(STRUCT_VERSION, path, out);                                                     \
  }                                                                                                \
  LOCAL int lstat##suffix(const char *path, struct stat *out) {                                    \
    return __lxstat(STRUCT_VERSION, path, out);                                                    \
  }                                                                                                \
  LOCAL int fstat##suffix(int file, struct stat *out) {                                            \
    return __fxstat(STRUCT_VERSION, file, out);                                                    \
  }                                                                                                \
  LOCAL int fstatat##suffix(int folder, const char *path, struct stat *out, int flags) {           \
    return __fxstatat(STRUCT_VERSION, folder, path, out, flags);                                   \
  }
STAT()
STAT(64)

/* Declared here: the headers of a newer glibc give these names to its own. */
long hirc_strtol(const char *, char **, int) __asm__("strtol");
long long hirc_strtoll(const char *, char **, int) __asm__("strtoll");
unsigned long hirc_strtoul(const char *, char **, int) __asm__("strtoul");
unsigned long long hirc_strtoull(const char *, char **, int) __asm__("strtoull");
int hirc_vsscanf(const char *, const char *, va_list) __asm__("vsscanf");
int hirc_vfscanf(FILE *, const char *, va_list) __asm__("vfscanf");

LOCAL long __isoc23_strtol(const char *text, char **end, int base) {
  return hirc_strtol(text, end, base);
}
LOCAL long long __isoc23_strtoll(const char *text, char **end, int base) {
  return hirc_strtoll(text, end, base);
}
LOCAL unsigned long __isoc23_strtoul(const char *text, char **end, int base) {
  return hirc_strtoul(text, end, base);
}
LOCAL unsigned long long __isoc23_strtoull(const char *text, char **end, int base) {
  return hirc_strtoull(text, end, base);
}

LOCAL int __isoc23_sscanf(const char *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int read = hirc_vsscanf(text, format, arguments);
  va_end(arguments);
  return read;
}
LOCAL int __isoc23_fscanf(FILE *file, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int read = hirc_vfscanf(file, format, arguments);
  va_end(arguments);
  return read;
}
