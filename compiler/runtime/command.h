// A program as a command: what its parts share. See command.c.
#ifndef HIRC_COMMAND_H
#define HIRC_COMMAND_H

#include "program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
  HIRC_EXIT_INPUT = 1, // an input is wrong, or a file
  HIRC_EXIT_USAGE = 2, // the command line is
};

// Values in the host's memory, packed, row by row.
struct hirc_array {
  int64_t rank;
  int64_t *sizes;
  char *data;
};

// The command line: one text for each input, NULL where none was given; files to write, NULL where
// none; `outputs` has the program's outputs first and then its inputs, as they are after the run.
struct hirc_arguments {
  const char **inputs;
  const char **outputs;
  const char *weights; // the file that has them, NULL where none was named
  const char *seed;    // of random numbers, NULL where none was given
  int64_t repeat; // 0: once, without more
  bool print;
  bool time;
};

// A number on its way to or from an element.
struct hirc_number {
  bool is_integer;
  uint64_t integer; // two's complement where the element is signed
  double real, imaginary;
};

// command_messages.c
void hirc_command_name(const char *path);
_Noreturn void hirc_command_fail(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void hirc_command_require(int status);
void hirc_command_printed(void);
void *hirc_command_memory(int64_t count, int64_t bytes_each);
int64_t hirc_count_of(const struct hirc_array *array);

// command_arguments.c
struct hirc_arguments hirc_parse_arguments(int argc, char **argv,
                                           const struct hirc_program_info *program);
void hirc_name_by_rank(struct hirc_arguments *arguments, const struct hirc_program_info *program,
                       int rank);

// command_help.c
void hirc_print_help(const struct hirc_program_info *program);
void hirc_print_values(const char *title, const struct hirc_value_info *values, int64_t count);

// command_elements.c
bool hirc_is_float(const struct hirc_value_info *value);
bool hirc_is_signed(const struct hirc_value_info *value);
bool hirc_is_truth(const struct hirc_value_info *value);
bool hirc_is_complex(const struct hirc_value_info *value);
bool hirc_store_element(const struct hirc_value_info *value, struct hirc_number number, void *to);
struct hirc_number hirc_load_element(const struct hirc_value_info *value, const void *from);

// command_floats.c
uint64_t hirc_float_bits(double real, int exponent_bits, int mantissa_bits, char special);
double hirc_float_value(uint64_t bits, int exponent_bits, int mantissa_bits, char special);

// command_values.c
struct hirc_array hirc_read_value(const struct hirc_value_info *value, const char *text);
bool hirc_parse_number(const struct hirc_value_info *value, const char *text, const char *end,
                       struct hirc_number *number);

// command_generate.c
void hirc_fill_iota(const struct hirc_value_info *value, const struct hirc_array *array);
void hirc_fill_random(const struct hirc_value_info *value, const struct hirc_array *array,
                      uint64_t seed);

// command_npy.c
const char *hirc_npy_type(const struct hirc_value_info *value);

// command_npy_read.c
struct hirc_array hirc_read_npy(const struct hirc_value_info *value, const char *path);

// command_npy_write.c
void hirc_write_npy(const struct hirc_value_info *value, const struct hirc_array *array,
                    const char *path);

// command_files.c
void hirc_check_outputs(const struct hirc_program_info *program,
                        const struct hirc_arguments *arguments);
FILE *hirc_open_output(const char *path);
void hirc_close_output(const char *path, FILE *file);
void hirc_reserve_streams(void);

// command_print.c
void hirc_print_array(const struct hirc_value_info *value, const struct hirc_array *array);

// command_tensors.c
struct dl_tensor hirc_tensor_of(const struct hirc_value_info *value,
                                const struct hirc_array *array);
void hirc_upload(const struct hirc_value_info *value, const struct hirc_array *array,
                 struct dl_tensor *tensor, void *stream);
struct dl_tensor hirc_empty_output(const struct hirc_value_info *value);
struct hirc_array hirc_download(const struct hirc_value_info *value,
                                const struct dl_tensor *tensor, void *stream);
void hirc_free_inputs(const struct hirc_program_info *program, struct dl_tensor *const *inputs,
                      void *stream);
void hirc_free_outputs(const struct hirc_program_info *program, struct dl_tensor *const *inputs,
                       struct dl_tensor *const *outputs, void *stream);

// command_time.c
void hirc_time_runs(const struct hirc_program_info *program, hirc_program_function *run,
                    struct dl_tensor *const *inputs, struct dl_tensor *const *outputs,
                    int64_t repeat, bool report, void *stream);

#endif
