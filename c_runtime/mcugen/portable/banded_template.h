/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: sums of weighted neighbours along an axis. Needs
 *   MG_BANDED, MG_BANDED_PARAMS        the kernel and its parameters
 *   MG_BANDED_STORED, MG_BANDED_SUM    the types of elements and of sums
 *   MG_BANDED_FINISH(sum)              the result of a sum
 */
void MG_BANDED(const MG_BANDED_PARAMS *p, const MG_BANDED_STORED *in, MG_BANDED_STORED *out)
{
    for (uint32_t o = 0u; o < p->outer; o += 1u) {
        const MG_BANDED_STORED *const from = in + (size_t)o * p->length * p->inner;
        uint32_t row = 0u, weight = 0u;
        int32_t moved = 0;
        for (uint32_t j = 0u; j < p->count; j += 1u) {
            const int32_t start = moved + p->first[row], room = (int32_t)p->length - start;
            const int32_t taps = (int32_t)p->taps[row], low = start < 0 ? -start : 0, high = taps < room ? taps : room;
            for (uint32_t i = 0u; i < p->inner; i += 1u) {
                MG_BANDED_SUM sum = 0;
                for (int32_t k = low; k < high; k += 1) {
                    sum += p->weights[weight + (uint32_t)k] * from[(uint32_t)(start + k) * p->inner + i];
                }
                out[((size_t)o * p->count + j) * p->inner + i] = MG_BANDED_FINISH(sum);
            }
            weight += (uint32_t)taps;
            row += 1u;
            if (row == p->rows) {
                row = 0u;
                weight = 0u;
                moved += (int32_t)p->step;
            }
        }
    }
}
