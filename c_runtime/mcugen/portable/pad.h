/* SPDX-License-Identifier: Apache-2.0
 *
 * Padding of tensors of any shape and type: the output is filled, then the input copied into its place.
 *
 * Equals the reference runtime's Pad for any type.
 */
#ifndef MCUGEN_PAD_H
#define MCUGEN_PAD_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *dims;                  /* [6], outermost first */
    const int32_t *in_stride, *out_stride; /* [6], in bytes */
    uint32_t size;                         /* bytes of an element: 1, 2, 4 or 8 */
    uint32_t offset;                       /* bytes from the start of the output to the first input element */
    uint32_t elements;                     /* elements of the output */
    const uint8_t *value;                  /* one element */
} mg_pad_params;

/* Computes whole tensors. */
void mg_pad(const mg_pad_params *p, const void *in, void *out);

#endif /* MCUGEN_PAD_H */
