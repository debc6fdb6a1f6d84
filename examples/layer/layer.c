#include "layer.h"
#include <stdio.h>

int main(void) {
  float data[] = {1, 2, 3, 4}, ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, zeros[3] = {0}, out[3];
  DLTensor x = {data, {1, 0}, 2, {2, 32, 1}, (int64_t[]){1, 4}}, y = {out, {1, 0}, 2, {2, 32, 1}, (int64_t[]){1, 3}};
  DLTensor w = {ones, {1, 0}, 2, {2, 32, 1}, (int64_t[]){3, 4}}, bias = {zeros, {1, 0}, 1, {2, 32, 1}, (int64_t[]){3}};
  const DLTensor *inputs[] = {&x, &w, &bias};
  if (hirc_program_layer(inputs, (DLTensor *[]){&y}, NULL) || hirc_synchronize(NULL))
    return puts(hirc_last_error());
  printf("%g %g %g\n", out[0], out[1], out[2]);
}
