/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/concatenation_scaled_s8.h"

/* Converts n values by a table. */
static void rescale(const int8_t *in, int8_t *out, uint32_t n, const int8_t *table)
{
    for (uint32_t i = 0u; i < n; i += 1u) {
        out[i] = table[in[i] + 128];
    }
}

static void join(const mg_concatenation_scaled_s8_params *p, const int8_t *const *in, uint32_t parts, int8_t *out,
                 uint32_t n)
{
    int8_t *to = out;
    for (uint32_t i = 0u; i < n; i += 1u) {
        for (uint32_t k = 0u; k < parts; k += 1u) {
            rescale(in[k] + i * p->run[k], to, p->run[k], p->table + k * 256u);
            to += p->run[k];
        }
    }
}

void mg_concatenation_scaled_s8__1(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, int8_t *out,
                                   uint32_t n)
{
    const int8_t *const in[] = {in0};
    join(p, in, 1u, out, n);
}

void mg_concatenation_scaled_s8__whole_1(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, int8_t *out)
{
    const int8_t *const in[] = {in0};
    join(p, in, 1u, out, p->outer);
}

void mg_concatenation_scaled_s8__2(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   int8_t *out, uint32_t n)
{
    const int8_t *const in[] = {in0, in1};
    join(p, in, 2u, out, n);
}

void mg_concatenation_scaled_s8__whole_2(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, int8_t *out)
{
    const int8_t *const in[] = {in0, in1};
    join(p, in, 2u, out, p->outer);
}

void mg_concatenation_scaled_s8__3(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, int8_t *out, uint32_t n)
{
    const int8_t *const in[] = {in0, in1, in2};
    join(p, in, 3u, out, n);
}

void mg_concatenation_scaled_s8__whole_3(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, int8_t *out)
{
    const int8_t *const in[] = {in0, in1, in2};
    join(p, in, 3u, out, p->outer);
}

void mg_concatenation_scaled_s8__4(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, const int8_t *in3, int8_t *out, uint32_t n)
{
    const int8_t *const in[] = {in0, in1, in2, in3};
    join(p, in, 4u, out, n);
}

void mg_concatenation_scaled_s8__whole_4(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, const int8_t *in3, int8_t *out)
{
    const int8_t *const in[] = {in0, in1, in2, in3};
    join(p, in, 4u, out, p->outer);
}

void mg_concatenation_scaled_s8__5(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, const int8_t *in3, const int8_t *in4, int8_t *out, uint32_t n)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4};
    join(p, in, 5u, out, n);
}

void mg_concatenation_scaled_s8__whole_5(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                         int8_t *out)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4};
    join(p, in, 5u, out, p->outer);
}

void mg_concatenation_scaled_s8__6(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                   int8_t *out, uint32_t n)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5};
    join(p, in, 6u, out, n);
}

void mg_concatenation_scaled_s8__whole_6(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                         const int8_t *in5, int8_t *out)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5};
    join(p, in, 6u, out, p->outer);
}

void mg_concatenation_scaled_s8__7(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                   const int8_t *in6, int8_t *out, uint32_t n)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6};
    join(p, in, 7u, out, n);
}

void mg_concatenation_scaled_s8__whole_7(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                         const int8_t *in5, const int8_t *in6, int8_t *out)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6};
    join(p, in, 7u, out, p->outer);
}

void mg_concatenation_scaled_s8__8(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                   const int8_t *in6, const int8_t *in7, int8_t *out, uint32_t n)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7};
    join(p, in, 8u, out, n);
}

void mg_concatenation_scaled_s8__whole_8(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                         const int8_t *in5, const int8_t *in6, const int8_t *in7, int8_t *out)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7};
    join(p, in, 8u, out, p->outer);
}

void mg_concatenation_scaled_s8__9(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                   const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                   const int8_t *in6, const int8_t *in7, const int8_t *in8, int8_t *out, uint32_t n)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8};
    join(p, in, 9u, out, n);
}

void mg_concatenation_scaled_s8__whole_9(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                         const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                         const int8_t *in5, const int8_t *in6, const int8_t *in7, const int8_t *in8,
                                         int8_t *out)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8};
    join(p, in, 9u, out, p->outer);
}

void mg_concatenation_scaled_s8__10(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                    const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                    const int8_t *in6, const int8_t *in7, const int8_t *in8, const int8_t *in9,
                                    int8_t *out, uint32_t n)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8, in9};
    join(p, in, 10u, out, n);
}

void mg_concatenation_scaled_s8__whole_10(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                          const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                          const int8_t *in5, const int8_t *in6, const int8_t *in7, const int8_t *in8,
                                          const int8_t *in9, int8_t *out)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8, in9};
    join(p, in, 10u, out, p->outer);
}

void mg_concatenation_scaled_s8__11(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                    const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                    const int8_t *in6, const int8_t *in7, const int8_t *in8, const int8_t *in9,
                                    const int8_t *in10, int8_t *out, uint32_t n)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8, in9, in10};
    join(p, in, 11u, out, n);
}

void mg_concatenation_scaled_s8__whole_11(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                          const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                          const int8_t *in5, const int8_t *in6, const int8_t *in7, const int8_t *in8,
                                          const int8_t *in9, const int8_t *in10, int8_t *out)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8, in9, in10};
    join(p, in, 11u, out, p->outer);
}

void mg_concatenation_scaled_s8__12(const mg_concatenation_scaled_s8_params *p, const int8_t *in0, const int8_t *in1,
                                    const int8_t *in2, const int8_t *in3, const int8_t *in4, const int8_t *in5,
                                    const int8_t *in6, const int8_t *in7, const int8_t *in8, const int8_t *in9,
                                    const int8_t *in10, const int8_t *in11, int8_t *out, uint32_t n)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8, in9, in10, in11};
    join(p, in, 12u, out, n);
}

void mg_concatenation_scaled_s8__whole_12(const mg_concatenation_scaled_s8_params *p, const int8_t *in0,
                                          const int8_t *in1, const int8_t *in2, const int8_t *in3, const int8_t *in4,
                                          const int8_t *in5, const int8_t *in6, const int8_t *in7, const int8_t *in8,
                                          const int8_t *in9, const int8_t *in10, const int8_t *in11, int8_t *out)
{
    const int8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8, in9, in10, in11};
    join(p, in, 12u, out, p->outer);
}
