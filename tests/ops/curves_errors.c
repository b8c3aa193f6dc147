/* SPDX-License-Identifier: Apache-2.0
 *
 * The largest errors of exp, tanh and erf over every STEP-th float, beside the C library's functions for double.
 *
 * Prints for each function its error in units of the last place, and the float where it lies.
 */
#include <math.h>
#include <stdio.h>
#include "mcugen/curves.h"

#define LEAST_EXPONENT (-125)
#define DIGITS 24
#define FUNCTIONS 3

/* |found - wanted| in units of the last place that a float as large as `wanted` has; infinite where only one is NaN,
 * and where a result beyond all floats is not infinite. */
static double error(float found, double wanted)
{
    const float nearest = (float)wanted;
    int exponent;
    if (isnan(wanted) || isnan(found)) {
        return isnan(wanted) && isnan(found) ? 0.0 : HUGE_VAL;
    }
    if (isinf(nearest) || isinf(found)) {
        return nearest == found ? 0.0 : HUGE_VAL;
    }
    (void)frexp(wanted, &exponent);
    return fabs((double)found - wanted) / ldexp(1.0, (exponent < LEAST_EXPONENT ? LEAST_EXPONENT : exponent) - DIGITS);
}

int main(void)
{
    double worst[FUNCTIONS] = {0.0, 0.0, 0.0};
    float where[FUNCTIONS] = {0.0f, 0.0f, 0.0f};
    for (uint64_t bits = 0u; bits <= UINT32_MAX; bits += STEP) {
        const float x = mg_of_bits((uint32_t)bits);
        const float found[FUNCTIONS] = {mg_exp(x), mg_tanh(x), mg_erf(x)};
        const double wanted[FUNCTIONS] = {exp((double)x), tanh((double)x), erf((double)x)};
        for (int k = 0; k < FUNCTIONS; k += 1) {
            const double apart = error(found[k], wanted[k]);
            if (apart > worst[k]) {
                worst[k] = apart;
                where[k] = x;
            }
        }
    }
    for (int k = 0; k < FUNCTIONS; k += 1) {
        printf("%.4f %.9g\n", worst[k], (double)where[k]);
    }
    return 0;
}
