/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_BLOCK, the function of f32_block__mve.h for MG_PIXELS pixels. MG_HALVES: defined if weights are float16.
 */
#if MG_HAS_MVE_FLOAT
#if MG_PIXELS > 1
#define MG_SECOND(text) text
#else
#define MG_SECOND(text)
#endif
#if MG_PIXELS > 2
#define MG_THIRD(text) text
#define MG_PREDICATE "vpsttt\n"
#elif MG_PIXELS > 1
#define MG_THIRD(text)
#define MG_PREDICATE "vpstt\n"
#else
#define MG_THIRD(text)
#define MG_PREDICATE "vpst\n"
#endif

/* r0-r3, r8, r9: taps, r4-r6: pixels, r7: weights, r10: row pointers, r11: block, r12: runs left
 * q0-q5: sums, eight channels of the first pixel, of the second ..., q6, q7: weights */
#define MG_LOW(a, b, c) \
    "vfma.f32 q0, q6, " a "\n" MG_SECOND("vfma.f32 q2, q6, " b "\n") MG_THIRD("vfma.f32 q4, q6, " c "\n")
#define MG_UPPER(w, a, b, c) \
    "vfma.f32 q1, " w ", " a "\n" MG_SECOND("vfma.f32 q3, " w ", " b "\n") MG_THIRD("vfma.f32 q5, " w ", " c "\n")
#define MG_BIAS(w) "vldrw.u32 " w ", [r7], #16\n"
#if defined(MG_HALVES)
/* vcvtb.f32.f16 w, w as an encoded instruction, because GNU's assembler 2.40 encodes wrong registers. */
#define MG_NEXT(w) \
    "vldrh.u32 " w ", [r7], #8\n" \
    ".ifc " w ",q6\n .inst.w 0xfe3fce0d\n .else\n .inst.w 0xfe3fee0f\n .endif\n"
#else
#define MG_NEXT(w) MG_BIAS(w)
#endif
#define MG_PAIRS \
    "ldrd r0, r1, [r4], #8\n" MG_NEXT("q6") MG_SECOND("ldrd r2, r3, [r5], #8\n") MG_NEXT("q7") \
    MG_THIRD("ldrd r8, r9, [r6], #8\n")
#define MG_SINGLES \
    "ldr r0, [r4], #4\n" MG_NEXT("q6") MG_SECOND("ldr r2, [r5], #4\n") MG_THIRD("ldr r8, [r6], #4\n")
#define MG_EIGHT_TWO \
    MG_PAIRS MG_LOW("r0", "r2", "r8") MG_NEXT("q6") MG_UPPER("q7", "r0", "r2", "r8") MG_NEXT("q7") \
    MG_LOW("r1", "r3", "r9") MG_UPPER("q7", "r1", "r3", "r9")
#define MG_EIGHT_ONE MG_SINGLES MG_NEXT("q7") MG_LOW("r0", "r2", "r8") MG_UPPER("q7", "r0", "r2", "r8")
/* q1, q3, q5: the sums of four channels of the first, second and third pixel. */
#define MG_FOUR_TWO MG_PAIRS MG_UPPER("q6", "r0", "r2", "r8") MG_UPPER("q7", "r1", "r3", "r9")
#define MG_FOUR_ONE MG_SINGLES MG_UPPER("q6", "r0", "r2", "r8")

/* Adds all taps, two at a time, then one. scale: converts r0 from bytes of weights of eight channels to bytes of
 * weights of this block's channels. */
#define MG_TAPS(two, one, scale) \
    "ldr r0, [r11, #32]\n" scale \
    "add r7, r7, r0\n" \
    "ldr r10, [r11, #4]\n" \
    "2: ldr r4, [r10], #4\n" \
    "ldrd r0, r1, [r11, #12]\n" \
    "add r4, r4, r0\n" MG_SECOND("add r5, r4, r1\n") MG_THIRD("add r6, r5, r1\n") \
    "ldr r12, [r11, #20]\n" \
    "3: ldr r0, [r11, #24]\n" \
    "lsrs r0, r0, #2\n" \
    "wls lr, r0, 5f\n" \
    "4:\n" two two "le lr, 4b\n" \
    "5: ldr r0, [r11, #24]\n" \
    "lsls r0, r0, #31\n" \
    "bcc 6f\n" two \
    "6: bpl 7f\n" one \
    "7: subs r12, r12, #1\n" \
    "beq 8f\n" \
    "ldr r0, [r11, #28]\n" \
    "add r4, r4, r0\n" MG_SECOND("add r5, r5, r0\n") MG_THIRD("add r6, r6, r0\n") \
    "b 3b\n" \
    "8: ldr r0, [r11, #36]\n" scale \
    "add r7, r7, r0\n" \
    "ldr r0, [r11, #8]\n" \
    "cmp r10, r0\n" \
    "bne 2b\n" \
    "ldr r0, [r11, #32]\n" scale \
    "sub r7, r7, r0\n" \
    "ldrd r0, r1, [r11, #52]\n" \
    "vdup.32 q6, r0\n" \
    "vdup.32 q7, r1\n"
#define MG_BOUND(q) "vmax.s32 " q ", " q ", q6\n vmin.s32 " q ", " q ", q7\n"
#define MG_PLACES \
    "ldrd r0, r4, [r11, #40]\n" \
    "ldr r1, [r11, #48]\n" MG_SECOND("add r5, r4, r1\n") MG_THIRD("add r6, r5, r1\n")

static __attribute__((naked, noinline)) void MG_BLOCK(mg_f32_block *block MCUGEN_UNUSED)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "vpush {d8-d15}\n"
        "mov r11, r0\n"
        "ldr r7, [r11]\n"
        "ldr r0, [r11, #40]\n"
        "cmp r0, #4\n"
        "bls.w 20f\n"
        "1:\n" MG_BIAS("q0") MG_BIAS("q1")
        MG_SECOND("vmov q2, q0\n vmov q3, q1\n") MG_THIRD("vmov q4, q0\n vmov q5, q1\n")
        MG_TAPS(MG_EIGHT_TWO, MG_EIGHT_ONE, "")
        MG_BOUND("q0") MG_BOUND("q1") MG_SECOND(MG_BOUND("q2") MG_BOUND("q3")) MG_THIRD(MG_BOUND("q4") MG_BOUND("q5"))
        MG_PLACES
        "vstrw.32 q0, [r4]\n" MG_SECOND("vstrw.32 q2, [r5]\n") MG_THIRD("vstrw.32 q4, [r6]\n")
        "subs r2, r0, #4\n"
        "vctp.32 r2\n" MG_PREDICATE
        "vstrwt.32 q1, [r4, #16]\n" MG_SECOND("vstrwt.32 q3, [r5, #16]\n") MG_THIRD("vstrwt.32 q5, [r6, #16]\n")
        "adds r4, r4, #32\n"
        "subs r0, r0, #8\n"
        "strd r0, r4, [r11, #40]\n"
        "ble.w 30f\n"
        "cmp r0, #4\n"
        "bhi.w 1b\n");
    __asm__ volatile(
        "20:\n" MG_BIAS("q1") MG_SECOND("vmov q3, q1\n") MG_THIRD("vmov q5, q1\n")
        MG_TAPS(MG_FOUR_TWO, MG_FOUR_ONE, "lsrs r0, r0, #1\n")
        MG_BOUND("q1") MG_SECOND(MG_BOUND("q3")) MG_THIRD(MG_BOUND("q5"))
        MG_PLACES
        "vctp.32 r0\n" MG_PREDICATE
        "vstrwt.32 q1, [r4]\n" MG_SECOND("vstrwt.32 q3, [r5]\n") MG_THIRD("vstrwt.32 q5, [r6]\n")
        "30:\n"
        "vpop {d8-d15}\n"
        "pop {r4-r11, pc}\n");
}
#undef MG_SECOND
#undef MG_THIRD
#undef MG_PREDICATE
#undef MG_LOW
#undef MG_UPPER
#undef MG_NEXT
#undef MG_BIAS
#undef MG_PAIRS
#undef MG_SINGLES
#undef MG_EIGHT_TWO
#undef MG_EIGHT_ONE
#undef MG_FOUR_TWO
#undef MG_FOUR_ONE
#undef MG_TAPS
#undef MG_BOUND
#undef MG_PLACES

#else

static void MG_BLOCK(mg_f32_block *block)
{
    const uint32_t *w = block->weights; /* floats; or float biases and pairs of float16 */
    const mg_f32 *const *const rows_end = block->rows_end;
    const uint32_t channels = block->channels, taps = block->runs * block->run_length;
    for (uint32_t o = 0u; o < channels; o += 8u) {
        const uint32_t left = channels - o, lanes = left > 4u ? 8u : 4u, stored = left < lanes ? left : lanes;
        const uint32_t tap_words = lanes * MG_EIGHT_WEIGHTS / 32u;
        float sums[MG_PIXELS][8];
        for (uint32_t i = 0u; i < MG_PIXELS; i += 1u) {
            (void)memcpy(sums[i], w, lanes * sizeof(float));
        }
        w += lanes + block->lead / MG_EIGHT_WEIGHTS * tap_words;
        for (const mg_f32 *const *row = block->rows; row < rows_end; row += 1) {
            for (uint32_t t = 0u; t < taps; t += 1u) {
                const uint32_t tap = block->at / 4u + t / block->run_length * (block->run_gap / 4u) + t;
                for (uint32_t k = 0u; k < MG_PIXELS * lanes; k += 1u) {
                    sums[k / lanes][k % lanes] += (*row)[tap + k / lanes * (block->step / 4u)] *
                                                  MG_NAME(weight)(w, k % lanes);
                }
                w += tap_words;
            }
            w += block->row_gap / MG_EIGHT_WEIGHTS * tap_words;
        }
        w -= block->lead / MG_EIGHT_WEIGHTS * tap_words;
        for (uint32_t k = 0u; k < MG_PIXELS * stored; k += 1u) {
            mg_f32 *const out = block->out + k / stored * (block->out_step / 4u) + o;
            out[k % stored] = mg_f32_bounded(block->low, block->high, sums[k / stored][k % stored]);
        }
    }
}

#endif
