/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the kernels of depthwise_conv2d_s8__mve.h: the outputs of blocks of 8 channels, from interleaved rows.
 * MG_LINEAR, MG_CLAMP: see depthwise_conv2d_s8_template__mve.h. MG_SLICED: 1: a slice of the channels, with its blocks
 * at `stream`; 0: all channels.
 */
#if MG_SLICED
#define MG_SLICE , const int8_t *stream MCUGEN_UNUSED
#define MG_COUNT p->slice
#define MG_STREAM stream
#else
#define MG_SLICE
#define MG_COUNT p->channels
#define MG_STREAM p->stream
#endif

#if MG_HAS_MVE
/* Sum of one channel: four words of the window times 16 weights, lane by lane. */
#define MG_CHANNEL(sum, words, w, at)        \
    "vldrw.u32 " words ", [q7, #" at "\n"    \
    "vldrb.u8 " w ", [r5], #16\n"            \
    "vmladav.s8 " sum ", " words ", " w "\n"

/* Computes one pixel after the other, 8 channels at a time.
 * Stack, offset from sp: 0: number of excess outputs stored for a pixel (negative: of outputs skipped), 4: step_bytes,
 * 8: stream, 12: number of channels that the last block repeats, 16: bytes of these channels' words */
static __attribute__((naked)) void MG_VARIANT(compute)(const mg_depthwise_conv2d_s8__mve_params *p MCUGEN_UNUSED, const int8_t *weaves MCUGEN_UNUSED, int8_t *out MCUGEN_UNUSED MG_SLICE)
{
    __asm__ volatile(
        "push {r4-r11, lr}\n"
        "sub sp, sp, #4\n"
        "vpush {d8-d15}\n"
        "sub sp, sp, #24\n"
        ".if " MG_TEXT(MG_SLICED) "\n"
        "mov r5, r3\n"
        "mov r6, #28\n"
        "ldr r12, [r0, #56]\n"
        "ldrd r11, r4, [r0, #4]\n"
        "mla r9, r12, r6, r3\n"
        "sub r12, r12, r4\n"
        ".else\n"
        "ldrd r5, r11, [r0]\n"
        "ldr r4, [r0, #8]\n"
        ".endif\n"
        "ldrsh r7, [r0, #14]\n"
        "vdup.8 q4, r7\n"
        "ldrsh r7, [r0, #16]\n"
        "vdup.8 q5, r7\n"
        "ldrsh r7, [r0, #12]\n"
        "ldr r8, [r0, #32]\n"
        ".if " MG_TEXT(MG_SLICED) " == 0\n"
        "vctp.16 r4\n"
        ".endif\n"
        "add r0, r0, #36\n"
        "vldrw.u32 q6, [r0]\n"
        "sub r1, r1, #32\n"
        "vadd.i32 q6, q6, r1\n"
        "mov r1, r2\n"
        ".if " MG_TEXT(MG_SLICED) " == 0\n"
        "lsr r10, r4, #3\n"
        "mov r6, #224\n"
        "mla r9, r10, r6, r5\n"
        "mov r3, r9\n"
        "ands r10, r4, #7\n"
        "itt ne\n"
        "addne r3, r3, r6\n"
        "rsbne r10, r10, #8\n"
        "lsl r6, r10, #2\n"
        "mov r12, #0\n"
        "cmp r4, #8\n"
        "it lo\n"
        "movlo r12, r10\n"
        ".endif\n"
        "strd r12, r8, [sp, #0]\n"
        "str r5, [sp, #8]\n"
        ".if " MG_TEXT(MG_SLICED) " == 0\n"
        "strd r10, r6, [sp, #12]\n"
        ".endif\n"
        "1:\n"
        "vmov q7, q6\n"
        "2:\n"
        MG_CHANNEL("r0", "q0", "q1", "32]!")
        MG_CHANNEL("r2", "q2", "q3", "4]")
        MG_CHANNEL("r4", "q0", "q1", "8]")
        MG_CHANNEL("r6", "q2", "q3", "12]")
        MG_CHANNEL("r8", "q0", "q1", "16]")
        MG_CHANNEL("r10", "q2", "q3", "20]")
        MG_CHANNEL("r12", "q0", "q1", "24]")
        MG_CHANNEL("lr", "q2", "q3", "28]")
        "vmov q0[2], q0[0], r0, r8\n"
        "vldrw.u32 q2, [r5], #16\n"
        "vmov q0[3], q0[1], r4, r12\n"
        "vldrw.u32 q3, [r5], #16\n"
        "vmov q1[2], q1[0], r2, r10\n"
        "vadd.i32 q0, q0, q2\n"
        "vmov q1[3], q1[1], r6, lr\n"
        "vldrw.u32 q2, [r5], #16\n"
        "vadd.i32 q1, q1, q3\n"
        "vldrw.u32 q3, [r5], #16\n"
        MG_HIGH("q0", "q2")
        "vldrw.u32 q2, [r5], #16\n"
        MG_HIGH("q1", "q3")
        MG_NUDGE("q0", "q3")
        MG_NUDGE("q1", "q3")
        "vldrw.u32 q3, [r5], #16\n"
        MG_ROUND("q0", "q0, q0, q2")
        MG_ROUND("q1", "q1, q1, q3")
        "vqmovnb.s32 q0, q0\n"
        "vqmovnt.s32 q0, q1\n"
        "vqadd.s16 q0, q0, r7\n"
        "vqmovnb.s16 q0, q0\n"
        MG_BETWEEN("q4", "q5")
        ".if " MG_TEXT(MG_SLICED) "\n"
        "vstrb.16 q0, [r1], #8\n"
        ".else\n"
        "vpst\n"
        "vstrbt.16 q0, [r1], #8\n"
        ".endif\n"
        "cmp r5, r9\n"
        "blo 2b\n"
        ".if " MG_TEXT(MG_SLICED) " == 0\n"
        "cmp r5, r3\n"
        "bne 3f\n"
        ".endif\n"
        "ldmia sp, {r0, r2, r5}\n"
        "sub r1, r1, r0\n"
        "vadd.i32 q6, q6, r2\n"
        "subs r11, r11, #1\n"
        "bne 1b\n"
        "add sp, sp, #24\n"
        "vpop {d8-d15}\n"
        "add sp, sp, #4\n"
        "pop {r4-r11, pc}\n"
        ".if " MG_TEXT(MG_SLICED) " == 0\n"
        "3:\n"
        "ldrd r0, r2, [sp, #12]\n"
        "sub r1, r1, r0\n"
        "vsub.i32 q7, q7, r2\n"
        "b 2b\n"
        ".endif\n");
}
#undef MG_CHANNEL

#else
static void MG_VARIANT(compute)(const mg_depthwise_conv2d_s8__mve_params *p, const int8_t *weaves, int8_t *out MG_SLICE)
{
    for (uint32_t i = 0u; i < p->out_w * MG_COUNT; i += 1u) {
        const uint32_t c = i % MG_COUNT, left = MG_COUNT % 8u;
        const uint32_t repeated = MG_COUNT >= 8u && c >= MG_COUNT - left ? 8u - left : 0u;
        const int8_t *const block = MG_STREAM + (c + repeated) / 8u * 224u, lane = (int8_t)((c + repeated) % 8u);
        const int8_t *const x = weaves + i / MG_COUNT * p->step_bytes + c * 4u;
        const uint32_t words[4] = {p->word_0, p->word_1, p->word_2, p->word_3};
        int32_t rest[3], sum = 0;
        for (uint32_t t = 0u; t < 16u; t += 1u) {
            sum += block[lane * 16 + (int32_t)t] * x[words[t / 4u] + t % 4u];
        }
        for (int32_t k = 0; k < 3; k += 1) {
            (void)memcpy(&rest[k], block + 128 + k * 32 + lane % 2 * 16 + lane / 2 * 4, 4u);
        }
        out[i / MG_COUNT * p->channels + c] = (int8_t)mg_clamp(MG_SCALED(sum + rest[0], rest[1], rest[2]) + p->out_zero_point, p->out_min, p->out_max);
    }
}
#endif
#undef MG_STREAM
#undef MG_COUNT
#undef MG_SLICE
