/* SPDX-License-Identifier: Apache-2.0
 *
 * Flips the top bit of every byte: int8 to uint8 or back, if scales are equal and zero points differ by 128.
 * n bytes; out may be in. Equals the reference runtime's Quantize in this case.
 */
#ifndef MCUGEN_FLIP_SIGN_H
#define MCUGEN_FLIP_SIGN_H

#include "mcugen/runtime.h"

void mg_flip_sign(const void *in, void *out, uint32_t n);

#endif /* MCUGEN_FLIP_SIGN_H */
