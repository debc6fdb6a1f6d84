// What went wrong last in the calling thread, and what comes of it. See failure.c and calls.c.
#ifndef HIRC_FAILURE_H
#define HIRC_FAILURE_H

// Prints the message and ends the process, where no caller can be told.
typedef void hirc_ending(void);

enum { HIRC_ERROR_BYTES = 1024 };

struct hirc_error {
  hirc_ending *end;
  int cuda; // what a CUDA call returned, 0 where none failed
  int is_fixed;
  char text[HIRC_ERROR_BYTES];
};

// The calling thread's; never NULL.
struct hirc_error *hirc_error(void);

// Begins a message of an operation ("prog.mlir:12:7: error: "), and goes on with it. A note begins
// with a newline.
void hirc_error_begin(const char *location);
void hirc_error_add(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The message is of a call of CUDA that returned `rc`.
void hirc_error_blame(int rc);

// Leaves the innermost call of a program, or ends the process by `end`. There is a message.
_Noreturn void hirc_fail(hirc_ending *end);

// Prints the calling thread's message to standard error, after what was printed before.
void hirc_error_print(void);

// Prints it and ends the process with status 1.
void hirc_end_program(void);

#endif
