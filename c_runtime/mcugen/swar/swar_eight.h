/* SPDX-License-Identifier: Apache-2.0
 *
 * The sums of eight outputs, from four words of two outputs per tap.
 *
 * A word holds the weights of two outputs, w0 + 65536 * w1. The taps are grouped when the code is generated, so that
 * within a group each sum fits its 16 bits. MG_SWAR_SIGNED: 1: taps are int8; 0: uint8.
 */
#include "mcugen/runtime.h"

#define MG_SWAR_OUTPUTS 8u

#if MG_SWAR_SIGNED
#define MG_SWAR_TAP int8_t
#else
#define MG_SWAR_TAP uint8_t
#endif

#if defined(__ARM_ARCH_6M__) && defined(__GNUC__)
#include "mcugen/swar_eight_thumb1.h"
#elif defined(__thumb2__) && defined(__GNUC__)
#include "mcugen/swar_eight_thumb2.h"
#else
/* Computes a block of `groups` groups. stream: begins with the block's initial sums. x: all taps. sums: two words per
 * pair of outputs: the sum of both, modulo 2^32, and the sum of the upper output. Returns the end of the groups in the
 * stream. */
static const uint32_t *mg_swar_eight(const uint32_t *stream, const MG_SWAR_TAP *x, uint32_t *sums, uint32_t groups)
{
    const uint32_t *w = stream + MG_SWAR_OUTPUTS;
    const MG_SWAR_TAP *taps = x;
    uint32_t both0 = stream[0], both1 = stream[2], both2 = stream[4], both3 = stream[6];
    uint32_t upper0 = stream[1], upper1 = stream[3], upper2 = stream[5], upper3 = stream[7];
    for (uint32_t g = 0u; g < groups; g += 1u) {
        const uint32_t n = w[4] & 255u;
        uint32_t t0 = w[0], t1 = w[1], t2 = w[2], t3 = w[3];
        w += 5;
        taps += n;
        for (uint32_t k = 1u; k <= n; k += 1u) {
            const int32_t tap = taps[-(int32_t)k];
            const uint32_t u = (uint32_t)tap;
            t0 += w[0] * u;
            t1 += w[1] * u;
            t2 += w[2] * u;
            t3 += w[3] * u;
            w += 4;
        }
        both0 += t0;
        both1 += t1;
        both2 += t2;
        both3 += t3;
        upper0 += (uint32_t)((int32_t)t0 >> 16);
        upper1 += (uint32_t)((int32_t)t1 >> 16);
        upper2 += (uint32_t)((int32_t)t2 >> 16);
        upper3 += (uint32_t)((int32_t)t3 >> 16);
    }
    sums[0] = both0;
    sums[1] = upper0;
    sums[2] = both1;
    sums[3] = upper1;
    sums[4] = both2;
    sums[5] = upper2;
    sums[6] = both3;
    sums[7] = upper3;
    return w + 5;
}
#endif
