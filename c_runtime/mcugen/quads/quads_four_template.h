/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: the functions of quads_four.h. MG_HALVES: defined if weights are float16.
 */
#if MG_QUADS_ASSEMBLY

#if defined(MG_HALVES)
#define MG_QUADS_FOUR_WEIGHTS MG_QUADS_FOUR_HALVES
#define MG_QUADS_EIGHT_WEIGHTS MG_QUADS_EIGHT_HALVES
#else
#define MG_QUADS_FOUR_WEIGHTS MG_QUADS_FOUR_FLOATS
#define MG_QUADS_EIGHT_WEIGHTS MG_QUADS_EIGHT_FLOATS
#endif

static void __attribute__((naked, noinline)) MG_NAME(four)(MCUGEN_UNUSED mg_quads_block *block)
{
    __asm__(".syntax unified\n"
            "push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
            "vpush {s16-s31}\n"
            "mov r11, r0\n"
            "ldr r8, [r11]\n"
            /* four channels; the sums start at their biases */
            "1: vldmia r8, {s16-s19}\n vldmia r8, {s20-s23}\n vldmia r8, {s24-s27}\n vldmia r8!, {s28-s31}\n"
            "ldr r10, [r11, #4]\n ldr r9, [r11, #8]\n"
            "2: ldmia r10!, {r4, r5, r6, r7}\n"
            "ldr lr, [r11, #12]\n"
            "lsrs r12, lr, #2\n beq 4f\n"
            "3:\n" MG_QUADS_TAPS);
    __asm__(".syntax unified\n" MG_QUADS_TAPS
            "subs r12, r12, #1\n bne 3b\n"
            "4: tst lr, #2\n beq 5f\n" MG_QUADS_TAPS);
    __asm__(".syntax unified\n"
            "5: tst lr, #1\n beq 6f\n"
            "vldr s0, [r4]\n vldr s2, [r5]\n vldr s4, [r6]\n vldr s6, [r7]\n" MG_QUADS_FOUR_WEIGHTS("r8", 8, 9, 10, 11)
            MG_QUADS_TAP(0, 2, 4, 6, 8, 9, 10, 11)
            "6: subs r9, r9, #1\n bne 2b\n"
            "ldr r9, [r11, #16]\n ldr r12, [r11, #20]\n ldr r10, [r11, #24]\n"
            "add lr, r11, #28\n ldmia lr, {r4, r5, r6, r7}\n"
            "cmp r9, #4\n blo 20f\n"
            "cmp r12, #1\n beq 11f\n bhi 12f\n"
            "vstmia r4!, {s16-s19}\n vstmia r5!, {s20-s23}\n vstmia r6!, {s24-s27}\n vstmia r7!, {s28-s31}\n"
            "13: stmia lr, {r4, r5, r6, r7}\n"
            "subs r9, r9, #4\n str r9, [r11, #16]\n bne 1b\n"
            "14: vpop {s16-s31}\n"
            "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
    __asm__(".syntax unified\n"
            "11:\n" MG_QUADS_ALL(MG_QUADS_BOUND, MG_QUADS_FLOOR) "b 13b\n"
            "12:\n" MG_QUADS_ALL(MG_QUADS_BOUND, MG_QUADS_FLOOR MG_QUADS_CAP) "b 13b\n");
    /* Code for the last one to three channels. */
    __asm__(".syntax unified\n"
            "20: cmp r12, #1\n blo 22f\n beq 21f\n" MG_QUADS_ALL(MG_QUADS_IN_PLACE, MG_QUADS_FLOOR MG_QUADS_CAP) "b 22f\n"
            "21:\n" MG_QUADS_ALL(MG_QUADS_IN_PLACE, MG_QUADS_FLOOR)
            "22: vstr s16, [r4]\n vstr s20, [r5]\n vstr s24, [r6]\n vstr s28, [r7]\n"
            "cmp r9, #2\n blo 14b\n"
            "vstr s17, [r4, #4]\n vstr s21, [r5, #4]\n vstr s25, [r6, #4]\n vstr s29, [r7, #4]\n"
            "beq 14b\n"
            "vstr s18, [r4, #8]\n vstr s22, [r5, #8]\n vstr s26, [r6, #8]\n vstr s30, [r7, #8]\n"
            "b 14b\n");
}

/* Depthwise convolution, four channels at a time; the last group of four ends with the last channel. run_length:
 * number of taps of a run, which are `step` bytes apart.
 * r0: bytes from the first channel to the current four, r1: step, other registers: see quads_four.h */
static void __attribute__((naked, noinline))
MG_NAME(depthwise)(MCUGEN_UNUSED mg_quads_block *block, MCUGEN_UNUSED uint32_t step)
{
    __asm__(".syntax unified\n"
            "push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
            "vpush {s16-s31}\n"
            "mov r11, r0\n movs r0, #0\n"
            "ldr r8, [r11]\n ldr r2, [r11, #16]\n sub r2, r2, #4\n lsl r2, r2, #2\n"
            "1: vldmia r8, {s16-s19}\n vldmia r8, {s20-s23}\n vldmia r8, {s24-s27}\n vldmia r8!, {s28-s31}\n"
            "ldr r10, [r11, #4]\n ldr r9, [r11, #8]\n"
            "2: ldmia r10!, {r4, r5, r6, r7}\n"
            "add r4, r4, r0\n add r5, r5, r0\n add r6, r6, r0\n add r7, r7, r0\n"
            "ldr r12, [r11, #12]\n"
            "3:\n" MG_QUADS_FOUR_WEIGHTS("r8", 12, 13, 14, 15)
            MG_QUADS_LANES("r4", "r1", 0, 1, 2, 3, 16, 17, 18, 19)
            MG_QUADS_LANES("r5", "r1", 4, 5, 6, 7, 20, 21, 22, 23)
            MG_QUADS_LANES("r6", "r1", 8, 9, 10, 11, 24, 25, 26, 27)
            MG_QUADS_LANES("r7", "r1", 0, 1, 2, 3, 28, 29, 30, 31)
            "subs r12, r12, #1\n bne 3b\n"
            "subs r9, r9, #1\n bne 2b\n"
            "ldr r12, [r11, #20]\n ldr r10, [r11, #24]\n"
            "add lr, r11, #28\n ldmia lr, {r4, r5, r6, r7}\n"
            "add r4, r4, r0\n add r5, r5, r0\n add r6, r6, r0\n add r7, r7, r0\n"
            "cmp r12, #1\n beq 11f\n bhi 12f\n"
            "vstmia r4, {s16-s19}\n vstmia r5, {s20-s23}\n vstmia r6, {s24-s27}\n vstmia r7, {s28-s31}\n"
            "13: cmp r0, r2\n beq 14f\n add r0, r0, #16\n cmp r0, r2\n it hi\n movhi r0, r2\n b 1b\n"
            "14: vpop {s16-s31}\n"
            "pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
    __asm__(".syntax unified\n"
            "11: push {r0, r1, r2, r3}\n" MG_QUADS_ALL(MG_QUADS_BOUND, MG_QUADS_FLOOR) "pop {r0, r1, r2, r3}\n b 13b\n"
            "12: push {r0, r1, r2, r3}\n" MG_QUADS_ALL(MG_QUADS_BOUND, MG_QUADS_FLOOR MG_QUADS_CAP)
            "pop {r0, r1, r2, r3}\n b 13b\n");
}

/* Computes the sums of one vector, eight outputs at a time.
 * r0: weights, r1: x, r2: taps, r3: outputs left, r4: out, r5: tap, r6: loop count
 * s0-s7: sums, s8-s11: taps, s16-s23: weights */
static void __attribute__((naked, noinline))
MG_NAME(vector)(MCUGEN_UNUSED const void *weights, MCUGEN_UNUSED const mg_f32 *x, MCUGEN_UNUSED uint32_t taps,
                MCUGEN_UNUSED uint32_t outputs, MCUGEN_UNUSED mg_f32 *out)
{
    __asm__(".syntax unified\n"
            "push {r4, r5, r6, lr}\n"
            "ldr r4, [sp, #16]\n"
            "vpush {s16-s23}\n"
            "1: vldmia r0!, {s0-s7}\n"
            "mov r5, r1\n lsrs r6, r2, #2\n beq 3f\n"
            "2: vldmia r5!, {s8-s11}\n"
            MG_QUADS_EIGHT(8) MG_QUADS_EIGHT(9) MG_QUADS_EIGHT(10) MG_QUADS_EIGHT(11)
            "subs r6, r6, #1\n bne 2b\n"
            "3: ands r6, r2, #3\n beq 5f\n"
            "4: vldmia r5!, {s8}\n"
            MG_QUADS_EIGHT(8)
            "subs r6, r6, #1\n bne 4b\n"
            "5: cmp r3, #8\n blo 6f\n"
            "vstmia r4!, {s0-s7}\n"
            "subs r3, r3, #8\n bne 1b\n"
            "b 9f\n"
            /* the last one to seven outputs */
            "6: tst r3, #4\n beq 7f\n"
            "vstmia r4!, {s0-s3}\n vmov.f32 s0, s4\n vmov.f32 s1, s5\n vmov.f32 s2, s6\n"
            "7: tst r3, #2\n beq 8f\n"
            "vstmia r4!, {s0, s1}\n vmov.f32 s0, s2\n"
            "8: tst r3, #1\n beq 9f\n"
            "vstr s0, [r4]\n"
            "9: vpop {s16-s23}\n"
            "pop {r4, r5, r6, pc}\n");
}

#undef MG_QUADS_FOUR_WEIGHTS
#undef MG_QUADS_EIGHT_WEIGHTS

#else

/* Access to the weights of n channels: bias k, weight k, and the weights of the next n channels, `taps` taps further
 * on. */
#if defined(MG_HALVES)
static inline float MG_NAME(bias)(const void *block, uint32_t k)
{
    float value;
    (void)memcpy(&value, (const uint32_t *)block + k, sizeof value);
    return value;
}

static inline float MG_NAME(weight)(const void *block, uint32_t n, uint32_t k)
{
    const uint32_t both = ((const uint32_t *)block)[n + k / 2u];
    return mg_half_value((uint16_t)(both >> (16u * (k & 1u))));
}

static inline const void *MG_NAME(after)(const void *block, uint32_t n, uint32_t taps)
{
    return (const uint32_t *)block + n + n * taps / 2u;
}
#else
static inline float MG_NAME(bias)(const void *block, uint32_t k)
{
    return ((const float *)block)[k];
}

static inline float MG_NAME(weight)(const void *block, uint32_t n, uint32_t k)
{
    return ((const float *)block)[n + k];
}

static inline const void *MG_NAME(after)(const void *block, uint32_t n, uint32_t taps)
{
    return (const float *)block + n + n * taps;
}
#endif

static void MG_NAME(four)(mg_quads_block *block)
{
    const uint32_t channels = block->channels, runs = block->runs, run_length = block->run_length;
    const uint32_t taps = runs * run_length;
    const void *w = block->weights;
    for (uint32_t o = 0u; o < channels; o += 4u) {
        const uint32_t end = channels - o < 4u ? channels - o : 4u;
        float acc[4][4];
        for (uint32_t i = 0u; i < 4u; i += 1u) {
            for (uint32_t k = 0u; k < 4u; k += 1u) {
                acc[i][k] = MG_NAME(bias)(w, k);
            }
        }
        for (uint32_t r = 0u; r < runs; r += 1u) {
            for (uint32_t t = 0u; t < run_length; t += 1u) {
                for (uint32_t i = 0u; i < 4u; i += 1u) {
                    const float x = block->x[4u * r + i][t];
                    for (uint32_t k = 0u; k < 4u; k += 1u) {
                        acc[i][k] += x * MG_NAME(weight)(w, 4u, 4u * (r * run_length + t) + k);
                    }
                }
            }
        }
        for (uint32_t i = 0u; i < 4u; i += 1u) {
            for (uint32_t k = 0u; k < end; k += 1u) {
                block->out[i][o + k] = mg_quads_bounded(block->kind, block->out_max, acc[i][k]);
            }
        }
        w = MG_NAME(after)(w, 4u, taps);
    }
}

static void MG_NAME(depthwise)(mg_quads_block *block, uint32_t step)
{
    const uint32_t channels = block->channels, run_length = block->run_length, taps = block->runs * run_length;
    const void *w = block->weights;
    for (uint32_t c = 0u; c < channels; c += 4u) {
        const uint32_t at = c + 4u <= channels ? c : channels - 4u;
        float acc[4][4];
        for (uint32_t i = 0u; i < 4u; i += 1u) {
            for (uint32_t k = 0u; k < 4u; k += 1u) {
                acc[i][k] = MG_NAME(bias)(w, k);
            }
        }
        for (uint32_t t = 0u; t < taps; t += 1u) {
            for (uint32_t i = 0u; i < 4u; i += 1u) {
                const mg_f32 *const x = block->x[4u * (t / run_length) + i] + t % run_length * (step / 4u) + at;
                for (uint32_t k = 0u; k < 4u; k += 1u) {
                    acc[i][k] += x[k] * MG_NAME(weight)(w, 4u, 4u * t + k);
                }
            }
        }
        for (uint32_t i = 0u; i < 4u; i += 1u) {
            for (uint32_t k = 0u; k < 4u; k += 1u) {
                block->out[i][at + k] = mg_quads_bounded(block->kind, block->out_max, acc[i][k]);
            }
        }
        w = MG_NAME(after)(w, 4u, taps);
    }
}

static void MG_NAME(vector)(const void *weights, const mg_f32 *x, uint32_t taps, uint32_t outputs, mg_f32 *out)
{
    const void *w = weights;
    for (uint32_t o = 0u; o < outputs; o += 8u) {
        const uint32_t end = outputs - o < 8u ? outputs - o : 8u;
        for (uint32_t k = 0u; k < end; k += 1u) {
            float acc = MG_NAME(bias)(w, k);
            for (uint32_t t = 0u; t < taps; t += 1u) {
                acc += x[t] * MG_NAME(weight)(w, 8u, 8u * t + k);
            }
            out[o + k] = acc;
        }
        w = MG_NAME(after)(w, 8u, taps);
    }
}

#endif
