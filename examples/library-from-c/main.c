#include "scale.h"
#include <stdio.h>

int main(void) {
  float elements[] = {1, 2, 3, 4}, factor = 0.5f, result[4];
  int64_t sizes[] = {4};
  DLTensor x = {elements, {1, 0}, 1, {2, 32, 1}, sizes}; // device 1 is the host, type 2 a float
  DLTensor y = {result, {1, 0}, 1, {2, 32, 1}, sizes};
  DLTensor scalar = {&factor, {1, 0}, 0, {2, 32, 1}};

  if (hirc_program_scale((const DLTensor *[]){&x, &scalar}, (DLTensor *[]){&y}, NULL) != 0 ||
      hirc_synchronize(NULL) != 0)
    return puts(hirc_last_error());
  printf("%g %g %g %g\n", result[0], result[1], result[2], result[3]);
}
