/* SPDX-License-Identifier: Apache-2.0
 *
 * Macros of matmul_tiled.cl that read tiles of two computed matrices, in every transposition, and store them in local
 * memory.
 */
#ifndef MCUGEN_MATMUL_PAIR_H
#define MCUGEN_MATMUL_PAIR_H

/* Stores four elements of a tile. MG_PUT_COLUMN: four taps of one pixel or channel; MG_PUT_ROW: one tap of four pixels
 * or channels. */
#define MG_PUT_COLUMN(to, pitch, k, m, v) \
    to[(k) * (pitch) + m] = v.x; \
    to[((k) + 1) * (pitch) + m] = v.y; \
    to[((k) + 2) * (pitch) + m] = v.z; \
    to[((k) + 3) * (pitch) + m] = v.w
#define MG_PUT_ROW(to, pitch, k, m, v) *(local V4 *)(to + (k) * (pitch) + m) = v

/* Reads four adjacent elements of a matrix that is stored as rows x cols; with flip, of its transpose. */
#define MG_PAIR_FOUR(from, flip, row, col, rows, cols) \
    (!EDGE || ((row) < (rows) && (col) < (cols)) \
         ? READ4((from) + ((flip) ? (size_t)(col) * (rows) + (row) : (size_t)(row) * (cols) + (col))) \
         : (V4)(0))
#define MG_PAIR_ROW(c) (FLIP_A ? (c) % (BM / 4) * 4 : (c) / (BK / 4))
#define MG_PAIR_TAP_A(c) (FLIP_A ? (c) / (BM / 4) : (c) % (BK / 4) * 4)
#define MG_PAIR_TAP_B(c) (FLIP_B ? (c) % (BK / 4) * 4 : (c) / (BN / 4))
#define MG_PAIR_COL(c) (FLIP_B ? (c) / (BK / 4) : (c) % (BN / 4) * 4)
#define MG_PAIR_FETCH(tile) \
    do { \
        _Pragma("unroll") for (int i = 0; i < LA; i++) { \
            const int c = t + i * T; \
            ra[i] = MG_PAIR_FOUR(x, FLIP_A, m0 + MG_PAIR_ROW(c), (tile) * BK + MG_PAIR_TAP_A(c), pixels, taps); \
        } \
        _Pragma("unroll") for (int i = 0; i < LB; i++) { \
            const int c = t + i * T; \
            rb[i] = MG_PAIR_FOUR(w, FLIP_B, (tile) * BK + MG_PAIR_TAP_B(c), n0 + MG_PAIR_COL(c), taps, channels); \
        } \
    } while (0)
#define MG_PAIR_PUT(buffer) \
    do { \
        local VALUE *const as = base + (buffer) * STAGE, *const bs = as + BK * PA; \
        _Pragma("unroll") for (int i = 0; i < LA; i++) { \
            const int c = t + i * T; \
            if (BM * KV % T != 0 && c >= BM * KV) { \
                continue; \
            } \
            if (FLIP_A) { \
                MG_PUT_ROW(as, PA, MG_PAIR_TAP_A(c), MG_PAIR_ROW(c), ra[i]); \
            } else { \
                MG_PUT_COLUMN(as, PA, MG_PAIR_TAP_A(c), MG_PAIR_ROW(c), ra[i]); \
            } \
        } \
        _Pragma("unroll") for (int i = 0; i < LB; i++) { \
            const int c = t + i * T; \
            if (BK * (BN / 4) % T != 0 && c >= BK * (BN / 4)) { \
                continue; \
            } \
            if (FLIP_B) { \
                MG_PUT_COLUMN(bs, PB, MG_PAIR_TAP_B(c), MG_PAIR_COL(c), rb[i]); \
            } else { \
                MG_PUT_ROW(bs, PB, MG_PAIR_TAP_B(c), MG_PAIR_COL(c), rb[i]); \
            } \
        } \
    } while (0)
#endif /* MCUGEN_MATMUL_PAIR_H */
