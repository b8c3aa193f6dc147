/* Stored int8 are read four at a time, as one word that begins at a multiple of four bytes: compilers read a char4 whose
 * place they do not know byte by byte. The first is in the lowest bits. */
#define MG_FOUR(p) (*(global const uint *)(p))
#define MG_STORE_FOUR(v, p) (*(global uint *)(p) = as_uint(v))
#define MG_SOME_OF_FOUR(p, count) \
    (char4)((p)[0], (count) > 1 ? (p)[1] : 0, (count) > 2 ? (p)[2] : 0, (count) > 3 ? (p)[3] : 0)
#define MG_INTS(word) convert_int4(as_char4(word))

/* Adds the products of the four int8 of two words to `sum`. */
#if defined(cl_nv_pragma_unroll)
#define MG_DOT(sum, a, b) asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b))
#elif defined(cl_khr_integer_dot_product)
#define MG_DOT(sum, a, b) sum += dot_4x8packed_ss_int((uint)(a), (uint)(b))
#else
#define MG_DOT(sum, a, b) sum += mg_dot(MG_INTS(a) * MG_INTS(b))
#endif

static inline int mg_dot(int4 products)
{
    return (products.x + products.y) + (products.z + products.w);
}

/* Memory fence between work-groups of a launch: writes before it are visible to those that read after it. */
#if defined(cl_nv_pragma_unroll)
#define MG_FENCE asm volatile("fence.acq_rel.gpu;" ::: "memory")
#else
#define MG_FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

/* A stored int8 v as float, from v ^ 0x80 in the lowest bits: as bits of a float of 2^23 they are 2^23 + 128 + v, and the
 * difference is exact. Conversions take several times as long as an addition on many devices. */
#define MG_BYTE_FLOAT(flipped) (as_float(0x4B000000u | (flipped)) - 8388736.0f)
#define MG_ONE_AS_float(v) MG_BYTE_FLOAT((uint)(uchar)(v) ^ 0x80u)
#define MG_ONE_AS_int(v) (v)
#define MG_FOUR_AS_float(word) mg_floats_of(word)
#define MG_FOUR_AS_int(word) MG_INTS(word)

static inline float4 mg_floats_of(uint word)
{
    const uint flipped = word ^ 0x80808080u;
    return (float4)(MG_BYTE_FLOAT(flipped & 255u), MG_BYTE_FLOAT(flipped >> 8 & 255u), MG_BYTE_FLOAT(flipped >> 16 & 255u),
                    MG_BYTE_FLOAT(flipped >> 24));
}

/* The four bytes from index `at` on. Only the words that hold the first `count` of them are read. */
static inline uint mg_four_at(global const char *x, int at, int count)
{
    const int skipped = at & 3;
    global const char *const from = x + (at - skipped);
    const uint low = MG_FOUR(from), high = skipped + count > 4 ? MG_FOUR(from + 4) : 0u;
    return (uint)(((ulong)high << 32 | low) >> (8 * skipped));
}

/* The stored int8 for a sum. rounding 0: twice, as convolutions; 1: once, halves away from zero. */
static inline int mg_stored(int sum, int mult, int shift, int rounding, int zero_point, int low, int high)
{
    int y;
    if (rounding == 0) {
        y = mg_requantize(sum, mult, shift);
    } else {
        const uint total = (uint)(31 - shift);
        y = (int)(((long)sum * mult + ((long)1 << (total - 1u)) - (long)(sum < 0)) >> total);
    }
    return mg_clamp((int)((uint)y + (uint)zero_point), low, high);
}

static inline char4 mg_stored4(int4 sum, int4 mult, int4 shift, int rounding, int zero_point, int low, int high)
{
    return (char4)(mg_stored(sum.x, mult.x, shift.x, rounding, zero_point, low, high),
                   mg_stored(sum.y, mult.y, shift.y, rounding, zero_point, low, high),
                   mg_stored(sum.z, mult.z, shift.z, rounding, zero_point, low, high),
                   mg_stored(sum.w, mult.w, shift.w, rounding, zero_point, low, high));
}

/* The stored result where each channel o has a line, as in line.h. mult, shift: of the channel. line: the index of the
 * first pair; for each channel both halves of the addend, and the end of its pairs; the pairs. */
static inline int mg_on_line(int sum, int o, int mult, int shift, global const int *line, int tie_bits, int zero_point,
                             int low, int high)
{
    global const int *const own = line + 1 + 3 * o, *const pairs = line + line[0];
    const long total = (long)sum * mult + (long)((ulong)(uint)own[1] << 32 | (uint)own[0]);
    int y = (int)(total >> (shift & 63));
    if (shift >= 128) {
        y = (int)clamp(total >> (shift & 63), -0x40000000l, 0x40000000l);
    }
    if ((shift & 64) != 0) {
        const ulong lost = ((ulong)1 << (shift & 63)) - 1ul;
        y -= ((ulong)total & lost) >> tie_bits == 0ul ? (y - zero_point) & 1 : 0;
    }
    for (int k = o == 0 ? 0 : own[-1]; k < own[2]; k++) {
        y = pairs[2 * k] == sum ? pairs[2 * k + 1] : y;
    }
    return mg_clamp(y, low, high);
}

static inline char4 mg_on_line4(int4 sum, int o, int4 mult, int4 shift, global const int *line, int tie_bits, int zero_point,
                                int low, int high)
{
    return (char4)(mg_on_line(sum.x, o, mult.x, shift.x, line, tie_bits, zero_point, low, high),
                   mg_on_line(sum.y, o + 1, mult.y, shift.y, line, tie_bits, zero_point, low, high),
                   mg_on_line(sum.z, o + 2, mult.z, shift.z, line, tie_bits, zero_point, low, high),
                   mg_on_line(sum.w, o + 3, mult.w, shift.w, line, tie_bits, zero_point, low, high));
}

/* The stored result for the sum of channel o, or for four sums. With LINE set, `how` is tie_bits, not the rounding. */
#define MG_RESULT(sum, o, mult, shift, how, zero, low, high) \
    MG_JOIN(MG_RESULT_, LINE)(sum, o, mult, shift, how, zero, low, high)
#define MG_RESULT_0(sum, o, mult, shift, how, zero, low, high) mg_stored(sum, mult, shift, how, zero, low, high)
#define MG_RESULT_1(sum, o, mult, shift, how, zero, low, high) \
    mg_on_line(sum, o, mult, shift, MG_AT(const int, line), how, zero, low, high)
#define MG_RESULT4(sum, o, mult, shift, how, zero, low, high) \
    MG_JOIN(MG_RESULT4_, LINE)(sum, o, mult, shift, how, zero, low, high)
#define MG_RESULT4_0(sum, o, mult, shift, how, zero, low, high) mg_stored4(sum, mult, shift, how, zero, low, high)
#define MG_RESULT4_1(sum, o, mult, shift, how, zero, low, high) \
    mg_on_line4(sum, o, mult, shift, MG_AT(const int, line), how, zero, low, high)
