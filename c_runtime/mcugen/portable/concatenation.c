/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/concatenation.h"

static void join(const mg_concatenation_params *p, const uint8_t *const *in, uint32_t parts, uint8_t *out, uint32_t n)
{
    uint8_t *to = out;
    for (uint32_t i = 0u; i < n; i += 1u) {
        for (uint32_t k = 0u; k < parts; k += 1u) {
            (void)memcpy(to, in[k] + i * p->run[k], p->run[k]);
            to += p->run[k];
        }
    }
}

void mg_concatenation__1(const mg_concatenation_params *p, const void *in0, void *out, uint32_t n)
{
    const uint8_t *const in[] = {in0};
    join(p, in, 1u, out, n);
}

void mg_concatenation__whole_1(const mg_concatenation_params *p, const void *in0, void *out)
{
    const uint8_t *const in[] = {in0};
    join(p, in, 1u, out, p->outer);
}

void mg_concatenation__2(const mg_concatenation_params *p, const void *in0, const void *in1, void *out, uint32_t n)
{
    const uint8_t *const in[] = {in0, in1};
    join(p, in, 2u, out, n);
}

void mg_concatenation__whole_2(const mg_concatenation_params *p, const void *in0, const void *in1, void *out)
{
    const uint8_t *const in[] = {in0, in1};
    join(p, in, 2u, out, p->outer);
}

void mg_concatenation__3(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         void *out, uint32_t n)
{
    const uint8_t *const in[] = {in0, in1, in2};
    join(p, in, 3u, out, n);
}

void mg_concatenation__whole_3(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               void *out)
{
    const uint8_t *const in[] = {in0, in1, in2};
    join(p, in, 3u, out, p->outer);
}

void mg_concatenation__4(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         const void *in3, void *out, uint32_t n)
{
    const uint8_t *const in[] = {in0, in1, in2, in3};
    join(p, in, 4u, out, n);
}

void mg_concatenation__whole_4(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               const void *in3, void *out)
{
    const uint8_t *const in[] = {in0, in1, in2, in3};
    join(p, in, 4u, out, p->outer);
}

void mg_concatenation__5(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         const void *in3, const void *in4, void *out, uint32_t n)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4};
    join(p, in, 5u, out, n);
}

void mg_concatenation__whole_5(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               const void *in3, const void *in4, void *out)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4};
    join(p, in, 5u, out, p->outer);
}

void mg_concatenation__6(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         const void *in3, const void *in4, const void *in5, void *out, uint32_t n)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5};
    join(p, in, 6u, out, n);
}

void mg_concatenation__whole_6(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               const void *in3, const void *in4, const void *in5, void *out)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5};
    join(p, in, 6u, out, p->outer);
}

void mg_concatenation__7(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         const void *in3, const void *in4, const void *in5, const void *in6, void *out, uint32_t n)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6};
    join(p, in, 7u, out, n);
}

void mg_concatenation__whole_7(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               const void *in3, const void *in4, const void *in5, const void *in6, void *out)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6};
    join(p, in, 7u, out, p->outer);
}

void mg_concatenation__8(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                         void *out, uint32_t n)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7};
    join(p, in, 8u, out, n);
}

void mg_concatenation__whole_8(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                               void *out)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7};
    join(p, in, 8u, out, p->outer);
}

void mg_concatenation__9(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                         const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                         const void *in8, void *out, uint32_t n)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8};
    join(p, in, 9u, out, n);
}

void mg_concatenation__whole_9(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                               const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                               const void *in8, void *out)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8};
    join(p, in, 9u, out, p->outer);
}

void mg_concatenation__10(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                          const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                          const void *in8, const void *in9, void *out, uint32_t n)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8, in9};
    join(p, in, 10u, out, n);
}

void mg_concatenation__whole_10(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                                const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                                const void *in8, const void *in9, void *out)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8, in9};
    join(p, in, 10u, out, p->outer);
}

void mg_concatenation__11(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                          const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                          const void *in8, const void *in9, const void *in10, void *out, uint32_t n)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8, in9, in10};
    join(p, in, 11u, out, n);
}

void mg_concatenation__whole_11(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                                const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                                const void *in8, const void *in9, const void *in10, void *out)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8, in9, in10};
    join(p, in, 11u, out, p->outer);
}

void mg_concatenation__12(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                          const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                          const void *in8, const void *in9, const void *in10, const void *in11, void *out, uint32_t n)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8, in9, in10, in11};
    join(p, in, 12u, out, n);
}

void mg_concatenation__whole_12(const mg_concatenation_params *p, const void *in0, const void *in1, const void *in2,
                                const void *in3, const void *in4, const void *in5, const void *in6, const void *in7,
                                const void *in8, const void *in9, const void *in10, const void *in11, void *out)
{
    const uint8_t *const in[] = {in0, in1, in2, in3, in4, in5, in6, in7, in8, in9, in10, in11};
    join(p, in, 12u, out, p->outer);
}
