/* SPDX-License-Identifier: Apache-2.0
 *
 * Copying between strided layouts: six nested loops over elements of 1, 2, 4 or 8 bytes.
 */
#ifndef MCUGEN_STRIDED_H
#define MCUGEN_STRIDED_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *dims;                   /* [6], outermost first */
    const int32_t *in_stride, *out_stride;  /* [6], in bytes */
    uint32_t size;                          /* bytes of an element */
} mg_strided;

/* Copies one element; both pointers are aligned to its size. */
static inline void mg_copy_element(const void *in, void *out, uint32_t size)
{
    if (size == 1u) {
        *(uint8_t *)out = *(const uint8_t *)in;
    } else if (size == 2u) {
        *(mg_s16 *)out = *(const mg_s16 *)in;
    } else if (size == 4u) {
        *(mg_s32 *)out = *(const mg_s32 *)in;
    } else {
        *(mg_s64 *)out = *(const mg_s64 *)in;
    }
}

/* Copies the elements of the innermost loop. */
static inline void mg_copy_line(const mg_strided *s, const uint8_t *in, uint8_t *out)
{
    const int32_t in_step = s->in_stride[5];
    const int32_t out_step = s->out_stride[5];
    const uint32_t n = s->dims[5];
    if (in_step == (int32_t)s->size && out_step == in_step) {
        (void)memcpy(out, in, (size_t)n * s->size);
    } else {
        const uint8_t *from = in;
        uint8_t *to = out;
        for (uint32_t i = 0u; i < n; i += 1u) {
            mg_copy_element(from, to, s->size);
            from += in_step;
            to += out_step;
        }
    }
}

/* Copies the elements of the three innermost loops. */
static inline void mg_copy_plane(const mg_strided *s, const uint8_t *in, uint8_t *out)
{
    for (int32_t i = 0; i < (int32_t)s->dims[3]; i += 1) {
        for (int32_t j = 0; j < (int32_t)s->dims[4]; j += 1) {
            mg_copy_line(s, in + i * s->in_stride[3] + j * s->in_stride[4],
                         out + i * s->out_stride[3] + j * s->out_stride[4]);
        }
    }
}

static inline void mg_copy_strided(const mg_strided *s, const uint8_t *in, uint8_t *out)
{
    for (int32_t i = 0; i < (int32_t)s->dims[0]; i += 1) {
        for (int32_t j = 0; j < (int32_t)s->dims[1]; j += 1) {
            for (int32_t k = 0; k < (int32_t)s->dims[2]; k += 1) {
                mg_copy_plane(s, in + i * s->in_stride[0] + j * s->in_stride[1] + k * s->in_stride[2],
                              out + i * s->out_stride[0] + j * s->out_stride[1] + k * s->out_stride[2]);
            }
        }
    }
}

#endif /* MCUGEN_STRIDED_H */
