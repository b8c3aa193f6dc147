/* SPDX-License-Identifier: Apache-2.0
 *
 * The top bit of every byte, flipped: int8 to uint8 or back, where scales are equal and zero points 128 apart.
 * n bytes; out may be in. Equals the reference runtime's Quantize there.
 */
#ifndef MCUGEN_FLIP_SIGN_H
#define MCUGEN_FLIP_SIGN_H

#include "mcugen/runtime.h"

void mg_flip_sign(const void *in, void *out, uint32_t n);

#endif /* MCUGEN_FLIP_SIGN_H */
