/* SPDX-License-Identifier: Apache-2.0
 *
 * Rescales and concatenates int8 tensors that were uint8. The output is, `outer` times, the next `run` bytes of each
 * operand in order.
 *
 * run     per operand, bytes of a run: the elements of the axis and of the axes behind it
 * outer   product of the axes before the axis
 * table   256 entries per operand, from its stored value + 128 to the output's
 * Equals the reference runtime's Concatenation for data that was uint8.
 */
#ifndef MCUGEN_CONCATENATION_SCALED_S8_H
#define MCUGEN_CONCATENATION_SCALED_S8_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *run;
    uint32_t outer;
    const int8_t *table;
} mg_concatenation_scaled_s8_params;

/* The number in the name is the number of operands. */
void mg_concatenation_scaled_s8__1(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, int8_t *out,
                                   uint32_t n);
void mg_concatenation_scaled_s8__whole_1(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, int8_t *out);
void mg_concatenation_scaled_s8__2(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   int8_t *out, uint32_t n);
void mg_concatenation_scaled_s8__whole_2(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, int8_t *out);
void mg_concatenation_scaled_s8__3(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, int8_t *out, uint32_t n);
void mg_concatenation_scaled_s8__whole_3(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, int8_t *out);
void mg_concatenation_scaled_s8__4(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, const int8_t *in3, int8_t *out, uint32_t n);
void mg_concatenation_scaled_s8__whole_4(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, const int8_t *in3, int8_t *out);
void mg_concatenation_scaled_s8__5(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, const int8_t *in3, const int8_t *in4, int8_t *out, uint32_t n);
void mg_concatenation_scaled_s8__whole_5(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                         int8_t *out);
void mg_concatenation_scaled_s8__6(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                   int8_t *out, uint32_t n);
void mg_concatenation_scaled_s8__whole_6(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                         const int8_t *in5, int8_t *out);
void mg_concatenation_scaled_s8__7(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                   const int8_t *in6, int8_t *out, uint32_t n);
void mg_concatenation_scaled_s8__whole_7(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                         const int8_t *in5, const int8_t *in6, int8_t *out);
void mg_concatenation_scaled_s8__8(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                   const int8_t *in6, const int8_t *in7, int8_t *out, uint32_t n);
void mg_concatenation_scaled_s8__whole_8(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                         const int8_t *in5, const int8_t *in6, const int8_t *in7, int8_t *out);
void mg_concatenation_scaled_s8__9(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                   const int8_t *in6, const int8_t *in7, const int8_t *in8, int8_t *out, uint32_t n);
void mg_concatenation_scaled_s8__whole_9(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                         const int8_t *in5, const int8_t *in6, const int8_t *in7, const int8_t *in8,
                                         int8_t *out);
void mg_concatenation_scaled_s8__10(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                    const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                    const int8_t *in6, const int8_t *in7, const int8_t *in8, const int8_t *in9,
                                    int8_t *out, uint32_t n);
void mg_concatenation_scaled_s8__whole_10(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                          const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                          const int8_t *in5, const int8_t *in6, const int8_t *in7, const int8_t *in8,
                                          const int8_t *in9, int8_t *out);
void mg_concatenation_scaled_s8__11(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                    const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                    const int8_t *in6, const int8_t *in7, const int8_t *in8, const int8_t *in9,
                                    const int8_t *in10, int8_t *out, uint32_t n);
void mg_concatenation_scaled_s8__whole_11(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                          const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                          const int8_t *in5, const int8_t *in6, const int8_t *in7, const int8_t *in8,
                                          const int8_t *in9, const int8_t *in10, int8_t *out);
void mg_concatenation_scaled_s8__12(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                    const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                    const int8_t *in6, const int8_t *in7, const int8_t *in8, const int8_t *in9,
                                    const int8_t *in10, const int8_t *in11, int8_t *out, uint32_t n);
void mg_concatenation_scaled_s8__whole_12(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                          const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                          const int8_t *in5, const int8_t *in6, const int8_t *in7, const int8_t *in8,
                                          const int8_t *in9, const int8_t *in10, const int8_t *in11, int8_t *out);

#endif /* MCUGEN_CONCATENATION_SCALED_S8_H */
