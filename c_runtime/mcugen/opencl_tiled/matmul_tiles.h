/* SPDX-License-Identifier: Apache-2.0
 *
 * Macros of matmul_tiled.cl that read tiles of data and of constant weights and store them in local memory.
 */
#ifndef MCUGEN_MATMUL_TILES_H
#define MCUGEN_MATMUL_TILES_H

#define MG_TILE_FETCH(tile) \
    do { \
        _Pragma("unroll") for (int i = 0; i < LA; i++) { \
            const int c = t + i * T, kv = (tile) * KV + c % KV; \
            ra[i] = (QUAD)(0); \
            FETCH_A(i, kv) \
        } \
        _Pragma("unroll") for (int i = 0; i < LB; i++) { \
            const int c = t + i * T, k = (tile) * BK + c / (BN / 4), n = n0 + (c % (BN / 4)) * 4; \
            const bool there = c < BK * (BN / 4) && k < STEPS && n < pitch; \
            rb[i] = there ? READ_ROW4(k, n) : (ROW4)(0); \
        } \
    } while (0)
#define MG_TILE_PUT(buffer) \
    do { \
        local VALUE *const as = base + (buffer) * STAGE, *const bs = as + BK * PA; \
        _Pragma("unroll") for (int i = 0; i < LA; i++) { \
            const int c = t + i * T; \
            if (BM * KV % T == 0 || c < BM * KV) { \
                const int m = c / KV, k = (c % KV) * VEC; \
                PUT_A(as, k, m, ra[i]); \
            } \
        } \
        _Pragma("unroll") for (int i = 0; i < LB; i++) { \
            const int c = t + i * T; \
            if (BK * (BN / 4) % T == 0 || c < BK * (BN / 4)) { \
                *(local V4 *)(bs + (c / (BN / 4)) * BN + (c % (BN / 4)) * 4) = PUT_ROW4(rb[i]); \
            } \
        } \
    } while (0)
#endif /* MCUGEN_MATMUL_TILES_H */
