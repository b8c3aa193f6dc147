/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of this file, one a line, with these words replaced:
 * s32 -> s64, int32 -> int64
 */
#include "mcugen/reverse_sequence_s32.h"

static uint32_t steps_of(int32_t length, uint32_t steps)
{
    const int32_t floored = length < 0 ? 0 : length;
    return (uint32_t)(floored > (int32_t)steps ? (int32_t)steps : floored);
}

/* Copies one sequence with its first `length` steps reversed. */
static void reverse(const mg_reverse_sequence_s32_params *p, const uint8_t *in, uint8_t *out, uint32_t length)
{
    for (uint32_t t = 0u; t < length; t += 1u) {
        (void)memcpy(out + t * p->step_stride, in + (length - 1u - t) * p->step_stride, p->run);
    }
    for (uint32_t t = length; t < p->steps; t += 1u) {
        (void)memcpy(out + t * p->step_stride, in + t * p->step_stride, p->run);
    }
}

void mg_reverse_sequence_s32(const mg_reverse_sequence_s32_params *p, const void *in, const mg_s32 *length, void *out)
{
    const uint8_t *const from = in;
    uint8_t *const to = out;
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        for (uint32_t i = 0u; i < p->between; i += 1u) {
            const uint32_t start = o * p->outer_stride + i * p->between_stride;
            for (uint32_t b = 0u; b < p->batches; b += 1u) {
                const uint32_t at = start + b * p->batch_stride;
                reverse(p, from + at, to + at, steps_of(length[b], p->steps));
            }
        }
    }
}
