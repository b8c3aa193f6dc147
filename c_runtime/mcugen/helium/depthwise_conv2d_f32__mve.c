/* SPDX-License-Identifier: Apache-2.0 */
#include "mcugen/depthwise_conv2d_f32__mve.h"

#include "mcugen/columns.h"
#include "mcugen/f32_bounded.h"
#include "mcugen/mve.h"

/* All channels of pixels that have the same kernel columns inside the image.
 * rows          pointers to the kernel's rows, up to rows_end
 * at            bytes from a row's start to the first tap of the first pixel
 * step          bytes from a pixel's first tap to the next pixel's; tap_step: from a tap to the next
 * taps          taps of each row
 * lead          bytes of weights that are skipped before the first tap; row_gap: bytes skipped between two rows
 * last          bytes from the first channel to the last four channels
 * out_step      bytes from a pixel's outputs to the next pixel's
 * Only for pixels that slide over the image's edges:
 * before        columns left of the image, which `at` leaves out
 * ends          ends_after[columns right of the image]
 * fourth        0xFFFF if there is a fourth pixel, else 0 */
typedef struct {
    const float *weights;
    const mg_f32 *const *rows;
    const mg_f32 *const *rows_end;
    uint32_t at, step, tap_step;
    uint32_t taps, lead, row_gap;
    uint32_t last;
    mg_f32 *out;
    uint32_t out_step;
    int32_t low, high;
    uint32_t before, ends, fourth;
} channels_block;

/* ends_after[n]: bits that end a row early if n columns are right of the image (see SLID). */
static const uint8_t ends_after[4] = {0u, 1u, 2u, 6u};

#if MG_HAS_MVE_FLOAT
/* r0-r3: temporary, r4: pixel, r5: step, r6: tap_step, r7: weights, r8: next pixels, r9: last, r10: row pointers,
 * r11: block, r12: bytes from the first channel; q0-q3: sums, q4-q7: taps and weights */
#define BEGIN \
    "push {r4-r11, lr}\n" \
    "vpush {d8-d15}\n" \
    "mov r11, r0\n" \
    "ldr r7, [r11]\n" \
    "ldrd r5, r6, [r11, #16]\n" \
    "ldr r9, [r11, #36]\n" \
    "movs r12, #0\n"
#define BOUND(q) "vmax.s32 " q ", " q ", q4\n vmin.s32 " q ", " q ", q5\n"
#define BOUNDS "ldrd r0, r1, [r11, #48]\n vdup.32 q4, r0\n vdup.32 q5, r1\n"
#define PLACE "ldrd r4, r1, [r11, #40]\n add r4, r4, r12\n"
#define STORE(q) "add r4, r4, r1\n vstrw.32 " q ", [r4]\n"
#define NEXT \
    "cmp r12, r9\n" \
    "beq 9f\n" \
    "add r12, r12, #16\n" \
    "cmp r12, r9\n" \
    "it hi\n" \
    "movhi r12, r9\n" \
    "b 1b\n" \
    "9:\n" \
    "vpop {d8-d15}\n" \
    "pop {r4-r11, pc}\n"
#define TAPS(each) \
    "ldr r0, [r11, #28]\n" \
    "add r7, r7, r0\n" \
    "ldr r10, [r11, #4]\n" \
    "2: ldr r4, [r10], #4\n" \
    "ldr r0, [r11, #12]\n" \
    "add r4, r4, r0\n" \
    "add r4, r4, r12\n" \
    "ldr r0, [r11, #24]\n" \
    "wls lr, r0, 4f\n" \
    "3:\n" each "le lr, 3b\n" \
    "4: ldrd r0, r1, [r11, #28]\n" \
    "add r7, r7, r1\n" \
    "ldr r1, [r11, #8]\n" \
    "cmp r10, r1\n" \
    "bne 2b\n" \
    "sub r7, r7, r0\n"

static __attribute__((naked, noinline)) void one_pixel(const channels_block *block MCUGEN_UNUSED)
{
    __asm__ volatile(BEGIN
                     "1: vldrw.u32 q0, [r7], #16\n"
                     TAPS("vldrw.u32 q7, [r7], #16\n"
                          "vldrw.u32 q4, [r4]\n"
                          "add r4, r4, r6\n"
                          "vfma.f32 q0, q4, q7\n")
                     BOUNDS BOUND("q0")
                     PLACE "vstrw.32 q0, [r4]\n"
                     NEXT);
}

static __attribute__((naked, noinline)) void four_pixels(const channels_block *block MCUGEN_UNUSED)
{
    __asm__ volatile(BEGIN
                     "1: vldrw.u32 q0, [r7], #16\n"
                     "vmov q1, q0\n vmov q2, q0\n vmov q3, q0\n"
                     TAPS("vldrw.u32 q7, [r7], #16\n"
                          "vldrw.u32 q4, [r4]\n add r8, r4, r5\n vfma.f32 q0, q4, q7\n"
                          "vldrw.u32 q5, [r8]\n add r8, r8, r5\n vfma.f32 q1, q5, q7\n"
                          "vldrw.u32 q4, [r8]\n add r8, r8, r5\n vfma.f32 q2, q4, q7\n"
                          "vldrw.u32 q5, [r8]\n add r4, r4, r6\n vfma.f32 q3, q5, q7\n")
                     BOUNDS BOUND("q0") BOUND("q1") BOUND("q2") BOUND("q3")
                     PLACE "vstrw.32 q0, [r4]\n" STORE("q1") STORE("q2") STORE("q3")
                     NEXT);
}

/* Variant for three adjacent taps per row: a column that any of the pixels reads is loaded once.
 * r0: row pointers, r2: before, r3: ends, r5: tap_step, r6: bytes to the first column, r8: fourth, r10: kernel rows */
#define SUM(q, w) "vfma.f32 q" #q ", q4, q" #w "\n"
#define COLUMN "vldrw.u32 q4, [r4]\n add r4, r4, r5\n"
#define SLID(columns) \
    BEGIN \
    "mov r5, r6\n" \
    "ldrd r0, r1, [r11, #4]\n" \
    "subs r1, r1, r0\n" \
    "lsrs r1, r1, #2\n" \
    "mov r10, r1\n" \
    "ldr r6, [r11, #12]\n" \
    "ldrd r2, r3, [r11, #56]\n" \
    "ldr r8, [r11, #64]\n" \
    "1: vldrw.u32 q0, [r7], #16\n" \
    "vmov q1, q0\n vmov q2, q0\n vmov q3, q0\n" \
    "ldr r0, [r11, #4]\n" \
    "lsls r1, r3, #30\n" \
    "dls lr, r10\n" \
    "2: ldr r4, [r0], #4\n" \
    "add r4, r4, r6\n" \
    "vldrw.u32 q5, [r7], #16\n vldrw.u32 q6, [r7], #16\n vldrw.u32 q7, [r7], #16\n" \
    "cbnz r2, 6f\n" columns \
    "5: le lr, 2b\n" \
    "b 8f\n" \
    "6: cmp r2, #1\n" \
    "bne 7f\n" \
    "lsls r1, r3, #30\n" \
    "b 3b\n" \
    "7: lsls r1, r3, #30\n" \
    "b 4b\n" \
    "8:\n" BOUNDS BOUND("q0") BOUND("q1") BOUND("q2") BOUND("q3") \
    PLACE "vstrw.32 q0, [r4]\n" STORE("q1") STORE("q2") \
    "add r4, r4, r1\n" \
    "vmsr p0, r8\n" \
    "vpst\n" \
    "vstrwt.32 q3, [r4]\n" \
    "subs r6, r6, r12\n" \
    "cmp r12, r9\n" \
    "beq 9f\n" \
    "add r12, r12, #16\n" \
    "cmp r12, r9\n" \
    "it hi\n" \
    "movhi r12, r9\n" \
    "add r6, r6, r12\n" \
    "b 1b\n" \
    "9:\n" \
    "vpop {d8-d15}\n" \
    "pop {r4-r11, pc}\n"

static __attribute__((naked, noinline)) void four_slid_pixels(const channels_block *block MCUGEN_UNUSED)
{
    __asm__ volatile(SLID(COLUMN SUM(0, 5)
                          "3:" COLUMN SUM(0, 6) SUM(1, 5)
                          "4:" COLUMN SUM(0, 7) SUM(1, 6) SUM(2, 5)
                          "bcs 5f\n" COLUMN SUM(1, 7) SUM(2, 6) SUM(3, 5)
                          "bmi 5f\n" COLUMN SUM(2, 7) SUM(3, 6)
                          "bne 5f\n" COLUMN SUM(3, 7)));
}

static __attribute__((naked, noinline)) void four_pixels_slid_by_two(const channels_block *block MCUGEN_UNUSED)
{
    __asm__ volatile(SLID(COLUMN SUM(0, 5)
                          "3:" COLUMN SUM(0, 6)
                          "4:" COLUMN SUM(0, 7) SUM(1, 5)
                          COLUMN SUM(1, 6)
                          COLUMN SUM(1, 7) SUM(2, 5)
                          COLUMN SUM(2, 6)
                          "bcs 5f\n" COLUMN SUM(2, 7) SUM(3, 5)
                          "bmi 5f\n" COLUMN SUM(3, 6)
                          "bne 5f\n" COLUMN SUM(3, 7)));
}
#else
/* Address of the bias of channel c. Its first tap is 4 floats behind. */
static const float *weights_of(const channels_block *block, uint32_t c, uint32_t taps)
{
    const uint32_t last = block->last / 4u, four = c < last ? c / 4u : (last + 3u) / 4u;
    return block->weights + four * (taps + 1u) * 4u + (c < last ? c % 4u : c - last);
}

static void some_pixels(const channels_block *block, uint32_t n)
{
    const uint32_t height = (uint32_t)(block->rows_end - block->rows), left_out = block->row_gap / 16u;
    for (uint32_t k = 0u; k < n * block->out_step / 4u; k += 1u) {
        const uint32_t channels = block->out_step / 4u, i = k / channels, c = k % channels;
        const float *const w = weights_of(block, c, height * (block->taps + left_out));
        float sum = w[0];
        for (uint32_t t = 0u; t < height * block->taps; t += 1u) {
            const uint32_t row = t / block->taps, column = t % block->taps;
            const uint32_t at = (block->at + i * block->step + column * block->tap_step) / 4u + c;
            sum += block->rows[row][at] * w[4u + block->lead / 4u + (t + row * left_out) * 4u];
        }
        block->out[k] = mg_f32_bounded(block->low, block->high, sum);
    }
}

static void one_pixel(const channels_block *block)
{
    some_pixels(block, 1u);
}

static void four_pixels(const channels_block *block)
{
    some_pixels(block, 4u);
}

static void four_slid_pixels(const channels_block *block)
{
    const uint32_t height = (uint32_t)(block->rows_end - block->rows), channels = block->out_step / 4u;
    const uint32_t columns_apart = block->step / block->tap_step, after = block->ends == 6u ? 3u : block->ends;
    for (uint32_t k = 0u; k < (block->fourth != 0u ? 4u : 3u) * channels; k += 1u) {
        const uint32_t c = k % channels;
        const float *const w = weights_of(block, c, height * 3u);
        float sum = w[0];
        for (uint32_t t = 0u; t < height * 3u; t += 1u) {
            const uint32_t column = k / channels * columns_apart + t % 3u;
            if (column >= block->before && column < 3u * columns_apart + 3u - after) {
                const uint32_t at = (block->at + (column - block->before) * block->tap_step) / 4u + c;
                sum += block->rows[t / 3u][at] * w[4u + t * 4u];
            }
        }
        block->out[k] = mg_f32_bounded(block->low, block->high, sum);
    }
}

static void four_pixels_slid_by_two(const channels_block *block)
{
    four_slid_pixels(block);
}
#endif

/* Sets the block to kernel columns [first, end) of a pixel. column: input column of the pixel's first tap; may be
 * negative. */
static void place(const mg_depthwise_conv2d_f32__mve_params *p, channels_block *block, int32_t column, uint32_t first,
                  uint32_t end)
{
    const uint32_t taps = end - first;
    block->at = taps != 0u ? (uint32_t)(column + (int32_t)(first * p->dilation_w)) * p->in_c * 4u : 0u;
    block->taps = taps;
    block->lead = first * 16u;
    block->row_gap = (p->kernel_w - taps) * 16u;
}

/* Computes a pixel that has taps outside the image. */
static void edge(const mg_depthwise_conv2d_f32__mve_params *p, channels_block *block, uint32_t x, mg_f32 *out)
{
    const int32_t column = (int32_t)(x * p->stride_w) - p->pad_w;
    const mg_columns columns = mg_columns_inside(column, p->kernel_w, p->dilation_w, p->in_w);
    place(p, block, column, columns.first, columns.end);
    block->out = out;
    one_pixel(block);
}

/* Computes pixels [first, end), which read inside the image only, four at a time. The last four may overlap the four
 * before. */
static void inside(const mg_depthwise_conv2d_f32__mve_params *p, channels_block *block, uint32_t first, uint32_t end,
                   mg_f32 *out)
{
    const uint32_t count = end - first, size = count < 4u ? 1u : 4u;
    for (uint32_t i = 0u; i < count; i += size) {
        const uint32_t x = i + size < count ? first + i : end - size;
        place(p, block, (int32_t)(x * p->stride_w) - p->pad_w, 0u, p->kernel_w);
        block->out = out + x * p->out_c;
        if (size == 1u) {
            one_pixel(block);
        } else {
            four_pixels(block);
        }
    }
}

/* For kernels with three adjacent columns: computes pixels x to x + 3, or to the last pixel; at least three pixels. */
static void slide(const mg_depthwise_conv2d_f32__mve_params *p, channels_block *block, uint32_t x, mg_f32 *out)
{
    const int32_t column = (int32_t)(x * p->stride_w) - p->pad_w;
    const int32_t past = column + 3 * p->stride_w + 3 - p->in_w;
    const uint32_t before = column < 0 ? (uint32_t)-column : 0u, after = past > 0 ? (uint32_t)past : 0u;
    const uint32_t end = x + 4u < p->out_w ? x + 4u : p->out_w;
    if (before > 2u || after > 3u) {
        for (uint32_t i = x; i < end; i += 1u) {
            edge(p, block, i, out + i * p->out_c);
        }
        return;
    }
    block->at = (uint32_t)(column + (int32_t)before) * p->in_c * 4u;
    block->before = before;
    block->ends = ends_after[after];
    block->fourth = end - x == 4u ? 0xFFFFu : 0u;
    block->out = out + x * p->out_c;
    if (p->stride_w == 1u) {
        four_slid_pixels(block);
    } else {
        four_pixels_slid_by_two(block);
    }
}

void mg_depthwise_conv2d_f32__mve(const mg_depthwise_conv2d_f32__mve_params *p, const mg_f32 *const *rows, uint32_t y,
                                  mg_f32 *out)
{
    const uint32_t channel_bytes = (uint32_t)p->in_c * 4u;
    channels_block block = {p->weights, rows, NULL, 0u, 0u, 0u, 0u, 0u, 0u, 0u, NULL, 0u, p->low, p->high, 0u, 0u, 0u};
    (void)y;
    block.rows_end = rows + p->kernel_h;
    block.step = p->stride_w * channel_bytes;
    block.tap_step = p->dilation_w * channel_bytes;
    block.last = channel_bytes - 16u;
    block.out_step = channel_bytes;
    if (p->kernel_w == 3u && p->dilation_w == 1u && p->stride_w <= 2u && p->out_w >= 3u) {
        for (uint32_t x = 0u; x < p->out_w; x += 4u) {
            slide(p, &block, x + 4u <= p->out_w || p->out_w < 4u ? x : p->out_w - 4u, out);
        }
        return;
    }
    for (uint32_t x = 0u; x < p->inside_first; x += 1u) {
        edge(p, &block, x, out + x * p->out_c);
    }
    inside(p, &block, p->inside_first, p->inside_end, out);
    for (uint32_t x = p->inside_end; x < p->out_w; x += 1u) {
        edge(p, &block, x, out + x * p->out_c);
    }
}
