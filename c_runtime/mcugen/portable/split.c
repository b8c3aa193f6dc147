/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/split.h"

static void cut(const mg_split_params *p, const uint8_t *in, uint8_t *const *out, uint32_t parts)
{
    const uint8_t *from = in;
    for (uint32_t i = 0u; i < p->outer; i += 1u) {
        for (uint32_t k = 0u; k < parts; k += 1u) {
            (void)memcpy(out[k] + i * p->run[k], from, p->run[k]);
            from += p->run[k];
        }
    }
}

void mg_split__1(const mg_split_params *p, const void *in, void *out0)
{
    uint8_t *const out[] = {out0};
    cut(p, in, out, 1u);
}

void mg_split__2(const mg_split_params *p, const void *in, void *out0, void *out1)
{
    uint8_t *const out[] = {out0, out1};
    cut(p, in, out, 2u);
}

void mg_split__3(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2)
{
    uint8_t *const out[] = {out0, out1, out2};
    cut(p, in, out, 3u);
}

void mg_split__4(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3)
{
    uint8_t *const out[] = {out0, out1, out2, out3};
    cut(p, in, out, 4u);
}

void mg_split__5(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4)
{
    uint8_t *const out[] = {out0, out1, out2, out3, out4};
    cut(p, in, out, 5u);
}

void mg_split__6(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                 void *out5)
{
    uint8_t *const out[] = {out0, out1, out2, out3, out4, out5};
    cut(p, in, out, 6u);
}

void mg_split__7(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                 void *out5, void *out6)
{
    uint8_t *const out[] = {out0, out1, out2, out3, out4, out5, out6};
    cut(p, in, out, 7u);
}

void mg_split__8(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                 void *out5, void *out6, void *out7)
{
    uint8_t *const out[] = {out0, out1, out2, out3, out4, out5, out6, out7};
    cut(p, in, out, 8u);
}

void mg_split__9(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                 void *out5, void *out6, void *out7, void *out8)
{
    uint8_t *const out[] = {out0, out1, out2, out3, out4, out5, out6, out7, out8};
    cut(p, in, out, 9u);
}

void mg_split__10(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                  void *out5, void *out6, void *out7, void *out8, void *out9)
{
    uint8_t *const out[] = {out0, out1, out2, out3, out4, out5, out6, out7, out8, out9};
    cut(p, in, out, 10u);
}

void mg_split__11(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                  void *out5, void *out6, void *out7, void *out8, void *out9, void *out10)
{
    uint8_t *const out[] = {out0, out1, out2, out3, out4, out5, out6, out7, out8, out9, out10};
    cut(p, in, out, 11u);
}

void mg_split__12(const mg_split_params *p, const void *in, void *out0, void *out1, void *out2, void *out3, void *out4,
                  void *out5, void *out6, void *out7, void *out8, void *out9, void *out10, void *out11)
{
    uint8_t *const out[] = {out0, out1, out2, out3, out4, out5, out6, out7, out8, out9, out10, out11};
    cut(p, in, out, 12u);
}
