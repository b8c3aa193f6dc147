/* SPDX-License-Identifier: Apache-2.0
 *
 * All output channels of four pixels of floats.
 */
#ifndef MCUGEN_QUADS_FOUR_H
#define MCUGEN_QUADS_FOUR_H

#include "mcugen/quads_f32.h"

/* A pointer that may lie in the arena. */
typedef const mg_f32 *MCUGEN_MAY_ALIAS mg_f32_row;

/* x: [runs][4], pointers to each run (run_length contiguous taps) of four pixels. channels: output channels left.
 * out: the next channel of each pixel. The function for four pixels changes channels and out. */
typedef struct {
    const void *weights;
    const mg_f32_row *x;
    uint32_t runs, run_length, channels, kind;
    float out_max;
    mg_f32 *out[4];
} mg_quads_block;

static inline float mg_quads_bounded(uint32_t kind, float out_max, float acc)
{
    const float floored = kind != MG_QUADS_NONE && acc < 0.0f ? 0.0f : acc;
    return kind == MG_QUADS_CAPPED && floored > out_max ? out_max : floored;
}

#if defined(__thumb2__) && defined(__ARM_FEATURE_FMA) && defined(__ARM_FP) && defined(__GNUC__)

/* r0-r3: results, r4-r7: pixels, r8: weights, r9: runs left, r10: table, r11: block, r12: loop count, lr: run_length
 * s0-s7: taps, s8-s15: weights, s16-s31: sums, four channels of pixel 0, of pixel 1 ... */
#define MG_QUADS_FMA(a, b, c, d, x, k, l, m, n) \
    "vfma.f32 s" #a ", s" #x ", s" #k "\n vfma.f32 s" #b ", s" #x ", s" #l "\n" \
    "vfma.f32 s" #c ", s" #x ", s" #m "\n vfma.f32 s" #d ", s" #x ", s" #n "\n"
#define MG_QUADS_TAP(x0, x1, x2, x3, k, l, m, n) \
    MG_QUADS_FMA(16, 17, 18, 19, x0, k, l, m, n) MG_QUADS_FMA(20, 21, 22, 23, x1, k, l, m, n) \
    MG_QUADS_FMA(24, 25, 26, 27, x2, k, l, m, n) MG_QUADS_FMA(28, 29, 30, 31, x3, k, l, m, n)
#define MG_QUADS_TAPS \
    "vldmia r4!, {s0, s1}\n vldmia r5!, {s2, s3}\n vldmia r6!, {s4, s5}\n vldmia r7!, {s6, s7}\n" \
    MG_QUADS_EIGHT_WEIGHTS("r8", 8, 9, 10, 11, 12, 13, 14, 15) \
    MG_QUADS_TAP(0, 2, 4, 6, 8, 9, 10, 11) MG_QUADS_TAP(1, 3, 5, 7, 12, 13, 14, 15)

/* MG_QUADS_FLOOR: r0-r3 become 0 if negative. MG_QUADS_CAP: then at most r10; floats from 0 on compare like their bits.
 */
#define MG_QUADS_FLOOR "bic r0, r0, r0, asr #31\n bic r1, r1, r1, asr #31\n bic r2, r2, r2, asr #31\n bic r3, r3, r3, asr #31\n"
#define MG_QUADS_CAP \
    "cmp r0, r10\n it gt\n movgt r0, r10\n cmp r1, r10\n it gt\n movgt r1, r10\n" \
    "cmp r2, r10\n it gt\n movgt r2, r10\n cmp r3, r10\n it gt\n movgt r3, r10\n"
#define MG_QUADS_BACK(bounds, a, b, c, d) \
    "vmov r0, r1, s" #a ", s" #b "\n vmov r2, r3, s" #c ", s" #d "\n" bounds \
    "vmov s" #a ", s" #b ", r0, r1\n vmov s" #c ", s" #d ", r2, r3\n"
#define MG_QUADS_BOUND(bounds, out, a, b, c, d) \
    "vmov r0, r1, s" #a ", s" #b "\n vmov r2, r3, s" #c ", s" #d "\n" bounds "stmia " out "!, {r0, r1, r2, r3}\n"
#define MG_QUADS_ALL(f, bounds) \
    f(bounds, "r4", 16, 17, 18, 19) f(bounds, "r5", 20, 21, 22, 23) f(bounds, "r6", 24, 25, 26, 27) \
    f(bounds, "r7", 28, 29, 30, 31)
#define MG_QUADS_IN_PLACE(bounds, out, a, b, c, d) MG_QUADS_BACK(bounds, a, b, c, d)

/* Load weights to consecutive registers: floats; or float16, which are widened in place, the last register first. */
#define MG_QUADS_WIDEN(a, b, c, d, low, high) \
    "vcvtt.f32.f16 s" #d ", s" #high "\n vcvtb.f32.f16 s" #c ", s" #high "\n" \
    "vcvtt.f32.f16 s" #b ", s" #low "\n vcvtb.f32.f16 s" #a ", s" #low "\n"
#define MG_QUADS_FOUR_FLOATS(from, a, b, c, d) "vldmia " from "!, {s" #a "-s" #d "}\n"
#define MG_QUADS_FOUR_HALVES(from, a, b, c, d) "vldmia " from "!, {s" #a ", s" #b "}\n" MG_QUADS_WIDEN(a, b, c, d, a, b)
#define MG_QUADS_EIGHT_FLOATS(from, a, b, c, d, e, f, g, h) "vldmia " from "!, {s" #a "-s" #h "}\n"
#define MG_QUADS_EIGHT_HALVES(from, a, b, c, d, e, f, g, h) \
    "vldmia " from "!, {s" #a "-s" #d "}\n" MG_QUADS_WIDEN(e, f, g, h, c, d) MG_QUADS_WIDEN(a, b, c, d, a, b)

#define MG_QUADS_LANES(x, step, k, l, m, n, a, b, c, d) \
    "vldmia " x ", {s" #k "-s" #n "}\n add " x ", " x ", " step "\n" \
    "vfma.f32 s" #a ", s" #k ", s12\n vfma.f32 s" #b ", s" #l ", s13\n" \
    "vfma.f32 s" #c ", s" #m ", s14\n vfma.f32 s" #d ", s" #n ", s15\n"

#define MG_QUADS_EIGHT(x) \
    MG_QUADS_EIGHT_WEIGHTS("r0", 16, 17, 18, 19, 20, 21, 22, 23) \
    MG_QUADS_FMA(0, 1, 2, 3, x, 16, 17, 18, 19) MG_QUADS_FMA(4, 5, 6, 7, x, 20, 21, 22, 23)

#define MG_QUADS_ASSEMBLY 1
#else
#define MG_QUADS_ASSEMBLY 0
#endif

#endif /* MCUGEN_QUADS_FOUR_H */
