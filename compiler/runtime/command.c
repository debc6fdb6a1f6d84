// A program as a command: inputs from files or the command line, outputs to files or the terminal.
//
// Everything that can be wrong is found before the program runs. The outputs printed and written
// are those of the first run; further runs, which --repeat and --time ask for, come after it.

#include "check.h"
#include "command.h"
#include "ranges.h"
#include "world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A command on its way: `inputs` and `outputs` point to the tensors.
struct state {
  const struct hirc_program_info *program;
  hirc_program_function *run;
  struct hirc_arguments arguments;
  struct hirc_array *arrays;
  struct dl_tensor *tensors; // the inputs' and then the outputs'
  struct dl_tensor **inputs;
  struct dl_tensor **outputs;
};

static void read_inputs(struct state *state) {
  const struct hirc_program_info *program = state->program;
  int64_t count = program->input_count + program->output_count;
  state->arrays = hirc_command_memory(program->input_count, sizeof *state->arrays);
  state->tensors = hirc_command_memory(count, sizeof *state->tensors);
  state->inputs = hirc_command_memory(count, sizeof *state->inputs);
  state->outputs = state->inputs + program->input_count;
  for (int64_t i = 0; i < count; ++i)
    state->inputs[i] = &state->tensors[i];
  for (int64_t i = 0; i < program->input_count; ++i) {
    const struct hirc_value_info *value = &program->inputs[i];
    state->arrays[i] = hirc_read_value(value, state->arguments.inputs[i]);
    state->tensors[i] = hirc_tensor_of(value, &state->arrays[i]);
  }
  for (int64_t i = 0; i < program->output_count; ++i)
    *state->outputs[i] = hirc_empty_output(&program->outputs[i]);
  if (hirc_extents_error(program, (const struct dl_tensor *const *)state->inputs))
    hirc_command_fail(HIRC_EXIT_INPUT, "%s", hirc_error_text());
}

// A run that is timed does not load them.
static void load_weights(const struct state *state) {
  const struct hirc_weights *weights = state->program->weights;
  if (!weights)
    return;
  if (state->arguments.weights)
    weights->use_file(state->arguments.weights);
  if (!weights->load(weights))
    hirc_command_fail(HIRC_EXIT_INPUT, "%s", hirc_error_text());
}

// Linked where a program has state.
__attribute__((weak)) int hirc_generator_set(const struct hirc_weights *weights, uint64_t seed,
                                             uint64_t offset, void *stream);

static void seed(const struct state *state) {
  const char *text = state->arguments.seed;
  if (!text)
    return;
  char *stop;
  errno = 0;
  uint64_t number = strtoull(text, &stop, 10);
  if (stop == text || *stop || errno)
    hirc_command_fail(HIRC_EXIT_USAGE, "--seed takes a number of 64 bits, not '%s'", text);
  if (!hirc_generator_set)
    hirc_command_fail(HIRC_EXIT_USAGE, "--seed: there are no random numbers to seed");
  if (hirc_generator_set(state->program->weights, number, 0, NULL))
    hirc_command_fail(HIRC_EXIT_USAGE, "--seed: %s", hirc_error_text());
}

static void run_first(struct state *state) {
  const struct hirc_program_info *program = state->program;
  for (int64_t i = 0; i < program->input_count; ++i)
    hirc_upload(&program->inputs[i], &state->arrays[i], state->inputs[i], NULL);
  if (state->arguments.time)
    hirc_count_memory(1);
  bool is_shown = hirc_range_begin(program->name);
  hirc_command_require(
      state->run((const struct dl_tensor *const *)state->inputs, state->outputs, NULL));
  hirc_range_end(is_shown);
  hirc_command_require(hirc_stream_finish(NULL));
  if (hirc_communication_agree)
    hirc_communication_agree();
}

// Prints and writes what was asked for.
static void show(const struct state *state) {
  const struct hirc_program_info *program = state->program;
  for (int64_t i = 0; i < program->output_count + program->input_count; ++i) {
    bool is_output = i < program->output_count;
    int64_t place = is_output ? i : i - program->output_count;
    const struct hirc_value_info *value =
        is_output ? &program->outputs[place] : &program->inputs[place];
    const char *path = state->arguments.outputs[i];
    bool prints = state->arguments.print && is_output;
    if (!path && !prints)
      continue;
    const struct dl_tensor *tensor = is_output ? state->outputs[place] : state->inputs[place];
    struct hirc_array array = hirc_download(value, tensor, NULL);
    if (path)
      hirc_write_npy(value, &array, path);
    if (prints)
      hirc_print_array(value, &array);
    free(array.sizes);
    free(array.data);
  }
}

static void print_memory(void) {
  struct hirc_memory_counts counts;
  hirc_memory_counts(&counts);
  if (counts.allocations == 0)
    return; // or it allocates otherwise, as a plain GPU program does
  printf("memory of a run:\n  %" PRId64 " bytes at most at a time, %" PRId64
         " allocation%s, %" PRId64 " freed; inputs not counted\n",
         counts.peak_bytes, counts.allocations, counts.allocations == 1 ? "" : "s",
         counts.deallocations);
}

// Runs a program as the command line says. Returns the exit status.
int hirc_command(int argc, char **argv, const struct hirc_program_info *program,
                 hirc_program_function *run) {
  struct state state = {.program = program, .run = run};
  hirc_reserve_streams();
  hirc_command_name(argc > 0 ? argv[0] : NULL);
  state.arguments = hirc_parse_arguments(argc, argv, program);
  int rank = hirc_communication_begin ? hirc_communication_begin() : -1;
  if (rank >= 0)
    hirc_name_by_rank(&state.arguments, program, rank);
  read_inputs(&state);
  hirc_check_outputs(program, &state.arguments);
  load_weights(&state);
  seed(&state);
  wait_at_end();
  run_first(&state);
  show(&state);
  if (state.arguments.repeat > 0) {
    if (state.arguments.time) {
      print_memory();
      hirc_count_memory(0);
    }
    hirc_time_runs(program, run, state.inputs, state.outputs, state.arguments.repeat,
                   state.arguments.time, NULL);
  }
  hirc_free_outputs(program, state.inputs, state.outputs, NULL);
  hirc_free_inputs(program, state.inputs, NULL);
  if (program->weights)
    program->weights->unload();
  hirc_program_end(NULL);
  hirc_command_printed();
  return 0;
}
