// Floating-point formats of 8 to 64 bits, from and to double.
//
// `special` says what the largest exponent is for: 'i' infinities and NaNs, as in IEEE 754; 'n' one
// NaN, all ones (f8E4M3FN); 'z' nothing, the NaN being negative zero (the FNUZ formats, whose bias
// is one more); 'e' is a scale: an exponent without sign or mantissa, all ones a NaN (f8E8M0FNU).

#include "command.h"

#include <math.h>

static int bias_of(int exponent_bits, char special) {
  return (1 << (exponent_bits - 1)) - (special == 'z' ? 0 : 1);
}

static uint64_t nan_bits(int exponent_bits, int mantissa_bits, char special) {
  uint64_t ones = ((UINT64_C(1) << (exponent_bits + mantissa_bits)) - 1);
  if (special == 'z')
    return UINT64_C(1) << (exponent_bits + mantissa_bits);
  return special == 'i' ? ones ^ ((UINT64_C(1) << (mantissa_bits - 1)) - 1) : ones;
}

static uint64_t too_large(int exponent_bits, int mantissa_bits, char special) {
  if (special != 'i')
    return nan_bits(exponent_bits, mantissa_bits, special);
  return ((UINT64_C(1) << exponent_bits) - 1) << mantissa_bits;
}

// The largest finite number's bits.
static uint64_t largest(int exponent_bits, int mantissa_bits, char special) {
  uint64_t ones = (UINT64_C(1) << (exponent_bits + mantissa_bits)) - 1;
  return special == 'z'   ? ones
         : special == 'i' ? too_large(exponent_bits, mantissa_bits, 'i') - 1
                          : ones - 1;
}

// The nearest number of the format, the even one of two.
uint64_t hirc_float_bits(double real, int exponent_bits, int mantissa_bits, char special) {
  uint64_t sign = signbit(real) && special != 'e'
                      ? UINT64_C(1) << (exponent_bits + mantissa_bits)
                      : 0;
  double magnitude = fabs(real);
  if (isnan(real) || (special == 'e' && real < 0))
    return nan_bits(exponent_bits, mantissa_bits, special) | (special == 'z' ? 0 : sign);
  if (magnitude == 0)
    return special == 'z' ? 0 : sign;
  uint64_t over = too_large(exponent_bits, mantissa_bits, special);
  if (isinf(magnitude))
    return special == 'z' ? over : over | sign;
  int bias = bias_of(exponent_bits, special), exponent;
  frexp(magnitude, &exponent);
  exponent -= 1; // magnitude = 1.x * 2^exponent
  int least = special == 'e' ? -bias : 1 - bias;
  int scale = exponent > least ? exponent : least; // denormals share the least exponent
  uint64_t steps = (uint64_t)nearbyint(ldexp(magnitude, mantissa_bits - scale));
  // A mantissa that rounds up to the next power of two carries into the exponent.
  uint64_t bits = special == 'e' ? (uint64_t)(scale + bias) + steps - 1
                                 : ((uint64_t)(scale + bias - 1) << mantissa_bits) + steps;
  if (bits > largest(exponent_bits, mantissa_bits, special))
    return special == 'z' ? over : over | sign;
  return bits == 0 && special == 'z' ? 0 : bits | sign;
}

double hirc_float_value(uint64_t bits, int exponent_bits, int mantissa_bits, char special) {
  uint64_t mantissa = bits & ((UINT64_C(1) << mantissa_bits) - 1);
  uint64_t magnitude = bits & ((UINT64_C(1) << (exponent_bits + mantissa_bits)) - 1);
  bool negative = special != 'e' && bits >> (exponent_bits + mantissa_bits) & 1;
  int exponent = (int)(magnitude >> mantissa_bits);
  double value;
  if (special == 'z' && negative && magnitude == 0)
    return (double)NAN;
  if (magnitude > largest(exponent_bits, mantissa_bits, special))
    value = special == 'i' && mantissa == 0 ? (double)INFINITY : (double)NAN;
  else if (exponent == 0 && special != 'e')
    value = ldexp((double)mantissa, 1 - bias_of(exponent_bits, special) - mantissa_bits);
  else
    value = ldexp((double)(mantissa | UINT64_C(1) << mantissa_bits),
                  exponent - bias_of(exponent_bits, special) - mantissa_bits);
  return negative ? -value : value;
}
