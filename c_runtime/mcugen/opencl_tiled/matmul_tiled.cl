/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution and fully connected layer as a product of matrices: [pixels][taps] times [taps][channels].
 *
 * A work-group computes BM pixels x BN channels, a work-item TM x TN of them. The groups of four outputs of a work-item
 * are spread over the block, so that reads of local memory have no bank conflicts. A tile of BK taps is read into
 * registers while the previous tile is multiplied.
 *
 * SK          number of parts of the taps in a work-group; they are added in local memory
 * SPLIT       1: the taps are also split over work-groups; the last one to finish adds the parts, always in the same
 *             order
 * POINT       1: the taps are the channels of one pixel; 0: `table` has, for each VEC taps, the offset from a pixel's
 *             first tap and the row and column
 * PAIR        1: both matrices are computed, one pair per batch; there is no bias and no clamp
 * FLIP_A, FLIP_B  with PAIR, 1: the matrix is stored as [taps][pixels], or as [channels][taps]
 * EDGE        with PAIR, 1: tiles may reach beyond the matrices
 * RESIDUAL    1: a second operand is added before the clamp; if INT8, to the stored result, by TAIL
 * SCALED      1: taps are first scaled, shifted and clamped
 * UNROLL      unrolled steps of the inner loop
 * HALF        1: data, weights and results are stored as half
 * INT8        1: data and results are int8
 * INT_SUMS    1: sums are int; 0: float, which is exact below 2^24
 * LOOSE       1: four int8 of a pixel may begin at any address, and the last of them may lie behind the pixel
 * LINE        1: results are rounded as in line.h
 * DOT         1: int8 stay packed, four to a word, and MG_DOT multiplies them; BK counts words, and weights are stored
 *             word by word
 */
#include <mcugen/opencl_tiled/matmul_pair.h>
#include <mcugen/opencl_tiled/matmul_tiles.h>
#if INT8 && (INT_SUMS || DOT)
#define VALUE int
#else
#define VALUE float
#endif
#define VM (TM / 4)
#define VN (TN / 4)
#define TX (BN / TN)
#define TY (BM / TM)
#define T (TX * TY)
#define KV (BK / VEC)
#define LA ((BM * KV + T - 1) / T)
#define LB ((BK * (BN / 4) + T - 1) / T)
#define PA (BM + 4)
#define PB (BN + (FLIP_B ? 4 : 0))
#define STAGE (BK * PA + BK * PB)
#define SUMS (SK > 1 ? (SK / 2) * BM * BN : 0)
#define LOCAL ((2 * SK * STAGE) > SUMS ? (2 * SK * STAGE) : SUMS)
#define V4 MG_JOIN(VALUE, 4)
/* Types of data that are in registers between global and local memory: int8 stay bytes. */
#if INT8
#define DATA char
#define QUAD4 uint
#define READ4(p) MG_FOUR(p)
#define VALUES4(v) MG_JOIN(MG_FOUR_AS_, VALUE)(v)
#define STORE4(v, p) MG_STORE_FOUR(v, p)
#else
#define DATA MG_FLOAT
#define QUAD4 V4
#define READ4(p) MG_WHOLE4(p)
#define VALUES4(v) v
#define STORE4(v, p) MG_STORE4(v, p)
#endif
#if DOT
#define WIDE 4
#define STEPS ((taps + 3) / 4)
#define ROW4 int4
#define MUL_ADD(a, b, c) DOTS(a, b, c)
#define READ_ROW4(k, n) (*(global const int4 *)(w + ((size_t)k * pitch + n) * 4))
#define PUT_ROW4(v) v
#define DOTS MG_JOIN(KERNEL, _dots)
static inline int4 DOTS(int a, int4 b, int4 c)
{
    int x = c.x, y = c.y, z = c.z, w = c.w;
    MG_DOT(x, a, b.x);
    MG_DOT(y, a, b.y);
    MG_DOT(z, a, b.z);
    MG_DOT(w, a, b.w);
    return (int4)(x, y, z, w);
}
#else
#define WIDE VEC
#define STEPS taps
#define ROW4 QUAD4
#if INT8
#define MUL_ADD(a, b, c) ((c) + (a) * (b))
#else
#define MUL_ADD(a, b, c) fma((V4)(a), b, c)
#endif
#define READ_ROW4(k, n) READ4(w + (size_t)k * pitch + n)
#define PUT_ROW4(v) VALUES4(v)
#endif
#if WIDE == 4
#define QUAD QUAD4
#define READ(p) READ4(p)
#elif INT8
#define QUAD char
#define READ(p) (*(p))
#else
#define QUAD VALUE
#define READ(p) ((VALUE)MG_LOAD(p))
#endif

kernel __attribute__((reqd_work_group_size(T * SK, 1, 1)))
void KERNEL(global const uchar *restrict mem_in0, const uint at_in0, global uchar *restrict mem_out, const uint at_out,
#if PAIR
    global const uchar *restrict mem_in1, const uint at_in1, global const uchar *restrict mem_first, const uint at_first,
#else
    global const uchar *restrict mem_weights, const uint at_weights,
    global const uchar *restrict mem_bias, const uint at_bias,
#endif
#if RESIDUAL
    global const uchar *restrict mem_in1, const uint at_in1,
#endif
#if SCALED
    global const uchar *restrict mem_scale, const uint at_scale, global const uchar *restrict mem_shift, const uint at_shift,
    const float in_min, const float in_max,
#endif
#if !POINT
    global const uchar *restrict mem_table, const uint at_table,
    const int in_h, const int in_w, const int out_h, const int out_w, const int stride_h, const int stride_w,
    const int pad_h, const int pad_w,
#endif
#if SPLIT
    global uchar *mem_scratch, const uint at_scratch, global uchar *mem_tickets, const uint at_tickets,
#endif
#if INT8
    global const uchar *restrict mem_mult, const uint at_mult, global const uchar *restrict mem_shift, const uint at_shift,
#if LINE
    global const uchar *restrict mem_line, const uint at_line,
#endif
    const int in_zero_point, const int out_zero_point, const int out_min, const int out_max, const int rounding,
#if RESIDUAL
    TAIL_ARGUMENTS
#endif
#elif !PAIR
    const float out_min, const float out_max,
#endif
    const int pitch_in0, const int pitch_out, const int pixels, const int channels, const int pitch, const int taps)
{
    local VALUE mem[LOCAL] __attribute__((aligned(16)));
#if SPLIT
    local int last;
#endif
#if PAIR
    /* Work-groups are ordered in bands of eight rows, whose operands stay in the cache. */
    global const uint *const start = MG_AT(const uint, first) + 2 * get_group_id(2);
    global const DATA *restrict const x = MG_AT(const DATA, in0) + start[0];
    global const DATA *restrict const w = MG_AT(const DATA, in1) + start[1];
    global DATA *restrict const y = MG_AT(DATA, out) + get_group_id(2) * (size_t)pixels * pitch_out;
    const int down = (int)get_num_groups(1), linear = (int)(get_group_id(1) * get_num_groups(0) + get_group_id(0));
    const int band = linear / (8 * down), in_band = linear % (8 * down), high = min(8, (int)get_num_groups(0) - 8 * band);
    const int m0 = (8 * band + in_band % high) * BM, n0 = in_band / high * BN;
#else
    global const DATA *restrict const x = MG_AT(const DATA, in0);
    global const DATA *restrict const w = MG_AT(const DATA, weights);
    global DATA *restrict const y = MG_AT(DATA, out);
    const int m0 = (int)get_group_id(0) * BM, n0 = (int)get_group_id(1) * BN;
#endif
    const int id = get_local_id(0), slice = id / T, t = id % T;
    const int tx = t % TX, ty = t / TX;
    const int tiles = (STEPS + BK - 1) / BK;
#if SPLIT
    const int splits = (int)get_num_groups(2), part_of = (int)get_group_id(2);
#else
    const int splits = 1, part_of = 0;
#endif
    const int per = (tiles + splits * SK - 1) / (splits * SK), first = (part_of * SK + slice) * per;
    local VALUE *const base = mem + slice * 2 * STAGE;

#if !PAIR
    int from[LA];
#if !POINT
    int from_y[LA], from_x[LA];
#endif
#pragma unroll
    for (int i = 0; i < LA; i++) {
        const int c = t + i * T, m = m0 + c / KV;
        const bool there = m < pixels && c < BM * KV;
#if POINT
        from[i] = there ? m * pitch_in0 : -1;
#else
        const int column = m % out_w, q = m / out_w, image = q / out_h;
        from_y[i] = there ? q % out_h * stride_h - pad_h : -(1 << 24);
        from_x[i] = column * stride_w - pad_w;
        from[i] = ((image * in_h + from_y[i]) * in_w + from_x[i]) * pitch_in0;
#endif
    }
#endif
    QUAD ra[LA];
    ROW4 rb[LB];
    V4 sum[TM][VN];
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < VN; j++) {
            sum[i][j] = (V4)(0);
        }
#if SCALED
    global const float *restrict const scale = MG_AT(const float, scale), *restrict const shift = MG_AT(const float, shift);
#define FIRST(v, k) fmin(fmax(fma(v, *(global const QUAD *)(scale + (k)), *(global const QUAD *)(shift + (k))), (QUAD)(in_min)), (QUAD)(in_max))
#else
#define FIRST(v, k) (v)
#endif
#if PAIR
#elif POINT && LOOSE
#define FETCH_A(i, kv) \
    if (from[i] >= 0 && (kv) * WIDE < taps) { \
        ra[i] = mg_four_at(x, from[i] + (kv) * WIDE, min(4, taps - (kv) * WIDE)); \
    }
#elif POINT
#define FETCH_A(i, kv) \
    if (from[i] >= 0 && (kv) * WIDE < taps) { \
        ra[i] = FIRST(READ(x + from[i] + (kv) * WIDE), (kv) * WIDE); \
    }
#else
    global const int2 *restrict const table = MG_AT(const int2, table);
#if INT8 && WIDE == 4
#define OUTSIDE ((uint)(uchar)in_zero_point * 0x01010101u)
#elif INT8
#define OUTSIDE (QUAD)(in_zero_point)
#else
#define OUTSIDE (QUAD)(0)
#endif
#define FETCH_A(i, kv) \
    if ((kv) * WIDE < taps) { \
        const int2 e = table[kv]; \
        const int iy = from_y[i] + (e.y & 0xffff), ix = from_x[i] + (e.y >> 16); \
        ra[i] = (uint)iy < (uint)in_h && (uint)ix < (uint)in_w ? READ(x + from[i] + e.x) : OUTSIDE; \
    }
#endif
#if VEC == 4 && INT8
#define PUT_A(as, k, m, v) \
    const V4 values = VALUES4(v); \
    MG_PUT_COLUMN(as, PA, k, m, values)
#elif VEC == 4
#define PUT_A(as, k, m, v) MG_PUT_COLUMN(as, PA, k, m, v)
#elif INT8
#define PUT_A(as, k, m, v) as[(k) * PA + m] = MG_JOIN(MG_ONE_AS_, VALUE)(v)
#else
#define PUT_A(as, k, m, v) as[(k) * PA + m] = v
#endif
#if PAIR
#define FETCH(tile) MG_PAIR_FETCH(tile)
#define PUT(buffer) MG_PAIR_PUT(buffer)
#else
#define FETCH(tile) MG_TILE_FETCH(tile)
#define PUT(buffer) MG_TILE_PUT(buffer)
#endif

    FETCH(first);
    PUT(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 0; s < per; s++) {
        if (s + 1 < per) {
            FETCH(first + s + 1);
        }
        local const VALUE *const as = base + (s & 1) * STAGE, *const bs = as + BK * PA;
#pragma unroll UNROLL
        for (int k = 0; k < BK; k++) {
            V4 a[VM], b[VN];
#pragma unroll
            for (int i = 0; i < VM; i++) {
                a[i] = *(local const V4 *)(as + k * PA + i * (BM / VM) + ty * 4);
            }
#pragma unroll
            for (int j = 0; j < VN; j++) {
                b[j] = *(local const V4 *)(bs + k * PB + j * (BN / VN) + tx * 4);
            }
#pragma unroll
            for (int j = 0; j < VN; j++)
#pragma unroll
                for (int i = 0; i < VM; i++) {
                    sum[i * 4][j] = MUL_ADD(a[i].x, b[j], sum[i * 4][j]);
                    sum[i * 4 + 1][j] = MUL_ADD(a[i].y, b[j], sum[i * 4 + 1][j]);
                    sum[i * 4 + 2][j] = MUL_ADD(a[i].z, b[j], sum[i * 4 + 2][j]);
                    sum[i * 4 + 3][j] = MUL_ADD(a[i].w, b[j], sum[i * 4 + 3][j]);
                }
        }
        if (s + 1 < per) {
            PUT((s + 1) & 1);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#if SK > 1
    for (int half_ = SK / 2; half_ > 0; half_ >>= 1) {
        if (slice >= half_ && slice < 2 * half_) {
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < VN; j++) {
                    *(local V4 *)(mem + (slice - half_) * BM * BN + ((i * VN + j) * T + t) * 4) = sum[i][j];
                }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slice < half_) {
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < VN; j++) {
                    sum[i][j] += *(local V4 *)(mem + slice * BM * BN + ((i * VN + j) * T + t) * 4);
                }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#endif
#if SPLIT
    {
        global VALUE *const part = MG_AT(VALUE, scratch);
        volatile global int *const ticket = MG_AT(int, tickets) + get_group_id(1) * get_num_groups(0) + get_group_id(0);
        const size_t tile = get_group_id(1) * get_num_groups(0) + get_group_id(0);
        const size_t tile_count = get_num_groups(0) * get_num_groups(1);
        if (slice == 0) {
            global VALUE *const mine = part + (get_group_id(2) * tile_count + tile) * BM * BN;
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < VN; j++) {
                    *(global V4 *)(mine + ((i * VN + j) * T + t) * 4) = sum[i][j];
                }
        }
        MG_FENCE;
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        if (id == 0) {
            last = atomic_inc(ticket) == splits - 1;
            if (last) {
                *ticket = 0;
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        if (!last) {
            return;
        }
        MG_FENCE;
        if (slice == 0) {
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < VN; j++) {
                    V4 v = (V4)(0);
                    for (int s = 0; s < splits; s++) {
                        v += *(volatile global V4 *)(part + (s * tile_count + tile) * BM * BN + ((i * VN + j) * T + t) * 4);
                    }
                    sum[i][j] = v;
                }
        }
    }
#endif
    if (slice != 0) {
        return;
    }
#pragma unroll
    for (int j = 0; j < VN; j++) {
        const int n = n0 + j * (BN / VN) + tx * 4;
        if (n >= channels) {
            continue;
        }
#if INT8
        const int4 b = *(global const int4 *)(MG_AT(const int, bias) + n);
        const int4 mult = *(global const int4 *)(MG_AT(const int, mult) + n);
        const int4 shift = *(global const int4 *)(MG_AT(const int, shift) + n);
#elif !PAIR
        const float4 b = vload4(0, MG_AT(const float, bias) + n);
#endif
#pragma unroll
        for (int i = 0; i < TM; i++) {
            const int m = m0 + (i / 4) * (BM / VM) + ty * 4 + i % 4;
            if (m >= pixels) {
                continue;
            }
            global DATA *const to = y + (size_t)m * pitch_out + n;
#if INT8
            const int4 total = convert_int4(sum[i][j]) + b;
            char4 v = MG_RESULT4(total, n, mult, shift, rounding, out_zero_point, out_min, out_max);
#if RESIDUAL
            global const char *const r = MG_AT(const char, in1) + (size_t)m * channels + n;
            const char4 other = channels % 4 == 0 ? as_char4(MG_FOUR(r)) : MG_SOME_OF_FOUR(r, channels - n);
            v = (char4)(TAIL(v.x, other.x), TAIL(v.y, other.y), TAIL(v.z, other.z), TAIL(v.w, other.w));
#endif
#elif PAIR
            const float4 v = sum[i][j];
#else
            float4 v = sum[i][j] + b;
#if RESIDUAL
            global const DATA *const r = MG_AT(const DATA, in1) + (size_t)m * channels + n;
            v.x += MG_LOAD(r);
            v.y += n + 1 < channels ? MG_LOAD(r + 1) : 0.0f;
            v.z += n + 2 < channels ? MG_LOAD(r + 2) : 0.0f;
            v.w += n + 3 < channels ? MG_LOAD(r + 3) : 0.0f;
#endif
            v = fmin(fmax(v, out_min), out_max);
#endif
            if (channels % 4 == 0) {
                STORE4(v, to);
            } else {
                MG_STORE_SOME(v, to, channels - n);
            }
        }
    }
}
