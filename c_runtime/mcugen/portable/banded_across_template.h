/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: sums of weighted rows. Needs the macros of mcugen/banded_template.h, and
 *   MG_BANDED_COPIES(weight)    whether a sum with this weight alone has the bits of the element
 */
void MG_BANDED(const MG_BANDED_PARAMS *p, const MG_BANDED_STORED *const *rows, uint32_t y, MG_BANDED_STORED *out)
{
    const uint32_t row = y % p->rows;
    const int32_t start = (int32_t)(y / p->rows * p->step) + p->first[row], room = (int32_t)p->length - start;
    const int32_t taps = (int32_t)p->taps[row], low = start < 0 ? -start : 0, high = taps < room ? taps : room;
    uint32_t before = 0u;
    for (uint32_t r = 0u; r < row; r += 1u) {
        before += p->taps[r];
    }
    if (low == 0 && high == 1 && MG_BANDED_COPIES(p->weights[before])) {
        (void)memcpy(out, rows[0], p->inner * sizeof(MG_BANDED_STORED));
    } else {
        const MG_BANDED_SUM *const weights = p->weights + before;
        const uint32_t inner = p->inner;
        for (uint32_t i = 0u; i < inner; i += 1u) {
            MG_BANDED_SUM sum = 0;
            for (int32_t k = low; k < high; k += 1) {
                sum += weights[k] * rows[k][i];
            }
            out[i] = MG_BANDED_FINISH(sum);
        }
    }
}
