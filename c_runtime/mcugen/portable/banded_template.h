/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: sums of weighted neighbours along an axis. Needs
 *   MG_BANDED, MG_BANDED_PARAMS        the kernel and its parameters
 *   MG_BANDED_STORED, MG_BANDED_SUM    the types of elements and of sums
 *   MG_BANDED_FINISH(sum)              the result of a sum
 */

/* Results of one row of weights: out[i] = finished sum over k < taps of weights[k] * from[i + k * inner]. */
static void banded_sums(
    const MG_BANDED_SUM *weights, int32_t taps, const MG_BANDED_STORED *from, uint32_t inner, MG_BANDED_STORED *out)
{
    for (uint32_t i = 0u; i < inner; i += 1u) {
        const MG_BANDED_STORED *at = from + i;
        MG_BANDED_SUM sum = 0;
        for (int32_t k = 0; k < taps; k += 1) {
            sum += weights[k] * *at;
            at += inner;
        }
        out[i] = MG_BANDED_FINISH(sum);
    }
}

/* inner = count = 1: one result for each vector of `length` adjacent elements, such as the colours of a pixel. */
static void banded_vectors(const MG_BANDED_PARAMS *p, const MG_BANDED_STORED *in, MG_BANDED_STORED *out)
{
    const int32_t start = p->first[0], low = start < 0 ? -start : 0, room = (int32_t)p->length - start;
    const int32_t taps = ((int32_t)p->taps[0] < room ? (int32_t)p->taps[0] : room) - low;
    const uint32_t length = p->length, outer = p->outer;
    const MG_BANDED_SUM *const weights = p->weights + low;
    const MG_BANDED_STORED *from = in + (taps > 0 ? start + low : 0);
    if (taps == 3) {
        const MG_BANDED_SUM first = weights[0], second = weights[1], third = weights[2];
        for (uint32_t o = 0u; o < outer; o += 1u) {
            MG_BANDED_SUM sum = 0;
            sum += first * from[0];
            sum += second * from[1];
            sum += third * from[2];
            out[o] = MG_BANDED_FINISH(sum);
            from += length;
        }
    } else {
        for (uint32_t o = 0u; o < outer; o += 1u) {
            MG_BANDED_SUM sum = 0;
            for (int32_t k = 0; k < taps; k += 1) {
                sum += weights[k] * from[k];
            }
            out[o] = MG_BANDED_FINISH(sum);
            from += length;
        }
    }
}

void MG_BANDED(const MG_BANDED_PARAMS *p, const MG_BANDED_STORED *in, MG_BANDED_STORED *out)
{
    MG_BANDED_STORED *to = out;
    const uint32_t outer = p->count == 1u && p->inner == 1u ? 0u : p->outer;
    if (outer == 0u) {
        banded_vectors(p, in, out);
    }
    for (uint32_t o = 0u; o < outer; o += 1u) {
        const MG_BANDED_STORED *const from = in + (size_t)o * p->length * p->inner;
        const MG_BANDED_SUM *weights = p->weights;
        uint32_t row = 0u;
        int32_t moved = 0;
        for (uint32_t j = 0u; j < p->count; j += 1u) {
            const int32_t start = moved + p->first[row], room = (int32_t)p->length - start;
            const int32_t taps = (int32_t)p->taps[row], low = start < 0 ? -start : 0, high = taps < room ? taps : room;
            const int32_t first = low < high ? (start + low) * (int32_t)p->inner : 0;
            banded_sums(weights + low, high - low, from + first, p->inner, to);
            to += p->inner;
            weights += taps;
            row += 1u;
            if (row == p->rows) {
                row = 0u;
                weights = p->weights;
                moved += (int32_t)p->step;
            }
        }
    }
}
