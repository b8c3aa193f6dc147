/* SPDX-License-Identifier: Apache-2.0
 *
 * Concatenates tensors of any type. The output is, `outer` times, the next `run` bytes of each operand in order.
 *
 * run     per operand, bytes of a run: the elements of the axis and of the axes behind it
 * outer   product of the axes before the axis
 * Equals the reference runtime's Concatenation and Pack for any type.
 */
#ifndef MCUGEN_CONCATENATION_H
#define MCUGEN_CONCATENATION_H

#include "mcugen/runtime.h"

typedef struct {
    const uint32_t *run;
    uint32_t outer;
} mg_concatenation_params;

/* The number in the name is the number of operands. */
void mg_concatenation__1(const mg_concatenation_params *p, const void *in0, void *out, uint32_t n);
void mg_concatenation__whole_1(const mg_concatenation_params *p, const void *in0, void *out);
void mg_concatenation__2(const mg_concatenation_params *p, const void *in0, const void *in1, void *out, uint32_t n);
void mg_concatenation__whole_2(const mg_concatenation_params *p, const void *in0, const void *in1, void *out);
void mg_concatenation__3(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         void *out, uint32_t n);
void mg_concatenation__whole_3(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               void *out);
void mg_concatenation__4(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         const void *in3, void *out, uint32_t n);
void mg_concatenation__whole_4(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               const void *in3, void *out);
void mg_concatenation__5(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         const void *in3, const void *in4, void *out, uint32_t n);
void mg_concatenation__whole_5(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               const void *in3, const void *in4, void *out);
void mg_concatenation__6(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         const void *in3, const void *in4, const void *in5, void *out, uint32_t n);
void mg_concatenation__whole_6(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               const void *in3, const void *in4, const void *in5, void *out);
void mg_concatenation__7(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         const void *in3, const void *in4, const void *in5, const void *in6, void *out, uint32_t n);
void mg_concatenation__whole_7(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               const void *in3, const void *in4, const void *in5, const void *in6, void *out);
void mg_concatenation__8(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                         void *out, uint32_t n);
void mg_concatenation__whole_8(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                               void *out);
void mg_concatenation__9(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                         const void *in8, void *out, uint32_t n);
void mg_concatenation__whole_9(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                               const void *in8, void *out);
void mg_concatenation__10(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                          const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                          const void *in8, const void *in9, void *out, uint32_t n);
void mg_concatenation__whole_10(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                                const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                                const void *in8, const void *in9, void *out);
void mg_concatenation__11(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                          const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                          const void *in8, const void *in9, const void *in10, void *out, uint32_t n);
void mg_concatenation__whole_11(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                                const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                                const void *in8, const void *in9, const void *in10, void *out);
void mg_concatenation__12(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                          const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                          const void *in8, const void *in9, const void *in10, const void *in11, void *out, uint32_t n);
void mg_concatenation__whole_12(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                                const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                                const void *in8, const void *in9, const void *in10, const void *in11, void *out);

#endif /* MCUGEN_CONCATENATION_H */
