/* SPDX-License-Identifier: Apache-2.0
 *
 * Splits a tensor: `outer` times, each output in turn receives the next run.
 *
 * run     per output, bytes of a run: the elements of the axis and of the axes behind it
 * Equals the reference runtime's Split and Unpack for any type.
 */
#ifndef MCUGEN_SPLIT_H
#define MCUGEN_SPLIT_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *run;
    uint32_t outer;
} mg_split_params;

/* The number in the name is the number of outputs. */
void mg_split__1(const mg_split_params *p, const void *in, void *out0);
void mg_split__2(const mg_split_params *p, const void *in, void *out0, void *out1);
void mg_split__3(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2);
void mg_split__4(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3);
void mg_split__5(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4);
void mg_split__6(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                 void *out5);
void mg_split__7(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                 void *out5, void *out6);
void mg_split__8(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                 void *out5, void *out6, void *out7);
void mg_split__9(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                 void *out5, void *out6, void *out7, void *out8);
void mg_split__10(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                  void *out5, void *out6, void *out7, void *out8, void *out9);
void mg_split__11(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                  void *out5, void *out6, void *out7, void *out8, void *out9, void *out10);
void mg_split__12(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                  void *out5, void *out6, void *out7, void *out8, void *out9, void *out10, void *out11);

#endif /* MCUGEN_SPLIT_H */
