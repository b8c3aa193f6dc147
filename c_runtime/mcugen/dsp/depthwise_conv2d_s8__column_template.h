/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: depthwise convolution along time, see depthwise_conv2d_s8__column.h.
 *
 *   MG_H       kernel rows, one tap each
 *   MG_C       channels
 *   MG_LINEAR  scaling of sums (dsp_requantize.h): 0: _clamped; 1: for both signs; 2: _once; 3: _float; 4: _alike, all
 *              channels shifted by MG_SHIFT
 *   MG_CLAMP   1: outputs are clamped to a range narrower than int8
 */
#include "mcugen/depthwise_conv2d_s8__column.h"

#define MG_SLOTS ((MG_H + 1) / 2 * 2)

MG_DECLARE_depthwise_conv2d_s8__column(MG_KERNEL);

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)

/* Stores each channel of a row in its slot.
 * r0: in, r1: slot of the next channel, r2: groups of 16 channels left */
__attribute__((naked)) static void MG_VARIANT(scatter)(const int8_t *in MCUGEN_UNUSED, mg_s16 *row MCUGEN_UNUSED)
{
    __asm__(".set mg_c, " MG_TEXT(MG_C) "\n"
            ".set mg_step, 2 * " MG_TEXT(MG_SLOTS) "\n"
            ".if mg_c >= 16\n"
            "mov r2, #mg_c / 16\n"
            "1:\n"
            ".set mg_at, 0\n"
            ".rept 8\n"
            "ldrsb r3, [r0, #mg_at]\n"
            "ldrsb r12, [r0, #mg_at + 1]\n"
            "strh r3, [r1, #mg_at * mg_step]\n"
            "strh r12, [r1, #mg_at * mg_step + mg_step]\n"
            ".set mg_at, mg_at + 2\n"
            ".endr\n"
            "add r0, r0, #16\n"
            "add r1, r1, #16 * mg_step\n"
            "subs r2, r2, #1\n"
            "bne 1b\n"
            ".endif\n"
            ".set mg_at, 0\n"
            ".rept mg_c % 16\n"
            "ldrsb r3, [r0, #mg_at]\n"
            "strh r3, [r1, #mg_at * mg_step]\n"
            ".set mg_at, mg_at + 1\n"
            ".endr\n"
            "bx lr\n");
}

/* Loads n words of data and of weights, at most four, and adds their products to the sum. */
#define MG_PRODUCTS(n)                                                                  \
    ".set mg_n, " n "\n"                                                                \
    ".if mg_n == 1\n ldr r4, [r1], #4\n ldr r8, [r3], #4\n .endif\n"                    \
    ".if mg_n == 2\n ldm r1!, {r4, r5}\n ldm r3!, {r8, r9}\n .endif\n"                  \
    ".if mg_n == 3\n ldm r1!, {r4-r6}\n ldm r3!, {r8-r10}\n .endif\n"                   \
    ".if mg_n == 4\n ldm r1!, {r4-r7}\n ldm r3!, {r8-r11}\n .endif\n"                   \
    ".set mg_left, mg_left - 2 * mg_n\n"                                                \
    MG_PRODUCT("1", "r4", "r8") MG_PRODUCT("2", "r5", "r9") MG_PRODUCT("3", "r6", "r10") MG_PRODUCT("4", "r7", "r11")

/* If the number of taps is odd, the last word holds one tap. */
#define MG_PRODUCT(k, x, w)                                                                       \
    ".if mg_n >= " k "\n.if mg_n == " k " && mg_left < 0\n smlabb r12, " x ", " w ", r12\n"       \
    ".else\n smlad r12, " x ", " w ", r12\n .endif\n .endif\n"

/* Computes all channels.
 * r0: finish, r1: data, r2: out, r3: weights, r4-r7: loaded data, r8-r11: loaded weights, r12: sum, lr: end of out */
__attribute__((naked)) static void MG_VARIANT(channels)(const int32_t *finish MCUGEN_UNUSED, const mg_s16 *ring MCUGEN_UNUSED,
                                                        int8_t *out MCUGEN_UNUSED, const int32_t *weights MCUGEN_UNUSED)
{
    __asm__(".set mg_h, " MG_TEXT(MG_H) "\n"
            ".set mg_words, " MG_TEXT(MG_SLOTS) " / 2\n"
            ".set mg_linear, " MG_TEXT(MG_LINEAR) "\n"
            "push {r4-r11, lr}\n"
            "movw lr, #" MG_TEXT(MG_C) "\n"
            "add lr, lr, r2\n"
            "1:\n"
            "ldr r12, [r0], #4\n"
            ".set mg_left, mg_h\n"
            ".rept mg_words / 4\n" MG_PRODUCTS("4") ".endr\n"
            ".if mg_words % 4\n" MG_PRODUCTS("mg_words % 4") ".endif\n"
            "ldm r0!, {r4-r6}\n"
            ".if mg_linear == 4\n" MG_DSP_SCALE_ALIKE("r12", "r4", "r5", MG_TEXT(MG_SHIFT))
            ".elseif mg_linear == 3\n" MG_DSP_SCALE_FLOAT("r12", "r4", "r5")
            ".elseif mg_linear == 2\n" MG_DSP_SCALE_ONCE("r12", "r4", "r5", "r6")
            ".elseif mg_linear\n" MG_DSP_SCALE("r12", "r4", "r5", "r6", "r7")
            ".else\n" MG_DSP_SCALE_CLAMPED("r12", "r4", "r5", "r6") ".endif\n"
            ".if mg_linear != 4\n ssat r12, #8, r12\n .endif\n"
            "strb r12, [r2], #1\n"
            "add r3, r3, #4 * (2 * mg_h - mg_words)\n"
            "cmp r2, lr\n"
            "bne 1b\n"
            "pop {r4-r11, pc}\n");
}

#undef MG_PRODUCT
#undef MG_PRODUCTS

#else

static inline void MG_VARIANT(scatter)(const int8_t *in, mg_s16 *row)
{
    for (uint32_t c = 0u; c < MG_C; c += 1u) {
        row[c * MG_SLOTS] = in[c];
    }
}

static inline void MG_VARIANT(channels)(const int32_t *finish, const mg_s16 *ring, int8_t *out, const int32_t *weights)
{
    for (uint32_t c = 0u; c < MG_C; c += 1u) {
        uint32_t sum = (uint32_t)finish[0];
        int32_t doubled, y;
        for (uint32_t k = 0u; k < MG_H; k += 1u) {
            const int32_t word = weights[k / 2u];
            sum += (uint32_t)(ring[k] * (k % 2u != 0u ? word >> 16 : (int16_t)(uint16_t)((uint32_t)word & 0xFFFFu)));
        }
        doubled = (int32_t)sum;
        y = MG_LINEAR == 4   ? mg_dsp_scale_once(doubled, finish[1], finish[2], MG_SHIFT)
            : MG_LINEAR == 3 ? mg_dsp_scale_float(doubled, finish[1], finish[2])
            : MG_LINEAR == 2 ? mg_dsp_scale_once(doubled, finish[1], finish[2], finish[3])
            : MG_LINEAR != 0 ? mg_dsp_scale(doubled, finish[1], finish[2], finish[3])
                             : mg_dsp_scale_clamped(doubled, finish[1], finish[2], finish[3]);
        out[c] = (int8_t)mg_clamp(y, -128, 127);
        finish += 4;
        ring += MG_SLOTS;
        weights += 2 * MG_H;
    }
}

#endif

MG_LINKAGE void MG_VARIANT(row)(const mg_depthwise_conv2d_s8__column_params *p, const int8_t *in, mg_s16 *row)
{
    if (in != NULL) {
        MG_VARIANT(scatter)(in, row);
    } else {
        for (uint32_t c = 0u; c < MG_C; c += 1u) {
            row[c * MG_SLOTS] = p->in_zero_point;
        }
    }
}

MG_LINKAGE void MG_KERNEL(const mg_depthwise_conv2d_s8__column_params *p, const mg_s16 *const *rows, int8_t *out)
{
    uint32_t first = 0u; /* the kernel row that is first in memory */
    for (uint32_t k = 1u; k < MG_H; k += 1u) {
        first = rows[k] < rows[k - 1u] ? k : first;
    }
    MG_VARIANT(channels)(p->finish, rows[first], out, p->weights + first / 2u + (first % 2u) * MG_H);
#if MG_CLAMP
    for (uint32_t c = 0u; c < MG_C; c += 1u) {
        out[c] = (int8_t)mg_clamp(out[c], p->out_min, p->out_max);
    }
#endif
}
#undef MG_SLOTS
