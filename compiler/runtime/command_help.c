// What --help prints.

#include "command.h"

#include <stdio.h>
#include <string.h>

void hirc_print_values(const char *title, const struct hirc_value_info *values, int64_t count) {
  int width = 0;
  for (int64_t i = 0; i < count; ++i)
    width = (int)strlen(values[i].name) > width ? (int)strlen(values[i].name) : width;
  printf("\n%s:%s\n", title, count ? "" : " none");
  for (int64_t i = 0; i < count; ++i)
    printf("  %-*s  %s\n", width, values[i].name, values[i].type);
}

void hirc_print_help(const struct hirc_program_info *program) {
  printf("runs %s of an MLIR program\n", program->name);
  hirc_print_values("inputs", program->inputs, program->input_count);
  hirc_print_values("outputs", program->outputs, program->output_count);
  fputs("\noptions:\n"
        "  --input=VALUE, --input=NAME=VALUE    an input, in order or by name\n"
        "  --output=FILE, --output=NAME=FILE    an output as a .npy file; the name of an input\n"
        "                                       writes what it holds after the run\n"
        "  --print    print the outputs; done where nothing else is asked for\n"
        "  --repeat=N run N times more on the same memory\n"
        "  --time     print how long those runs take (20 without --repeat), and what the first\n"
        "             allocates\n"
        "  --help     this text\n",
        stdout);
  if (program->weights)
    fputs("  --weights=FILE    the safetensors file that has the program's weights\n"
          "  --seed=N          the seed of the random numbers that a model draws (0)\n",
          stdout);
  fputs(
        "\na VALUE is\n"
        "  x.npy           a file\n"
        "  3               a number, for all elements where the input's sizes are fixed\n"
        "  1,2,3           a number for each element\n"
        "  2x3xf32=1.5     sizes and element type, then one of the above\n"
        "  2x3xf32=@iota         0, 1, 2, ...\n"
        "  2x3xf32=@random:7     random numbers of seed 7: floats in [-1, 1), integers in\n"
        "                        [-8, 8), unsigned ones in [0, 16)\n",
        stdout);
}
