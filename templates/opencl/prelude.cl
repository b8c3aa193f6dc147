/* Types and constants of C that the kernels' texts, which serve both languages, use. */
#pragma OPENCL FP_CONTRACT OFF
typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
#define INT8_MAX 127
#define INT8_MIN (-128)
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define INT32_MAX INT_MAX
#define INT32_MIN INT_MIN
#define INT64_MAX LONG_MAX
#define INT64_MIN LONG_MIN
/* The type of a word of so many bytes: 1, 2, 4, 8 or 16. */
#define MG_WORD_1 uchar
#define MG_WORD_2 ushort
#define MG_WORD_4 uint
#define MG_WORD_8 ulong
#define MG_WORD_16 uint4
#define MG_WORD_(size) MG_WORD_##size
#define MG_WORD(size) MG_WORD_(size)
/* Floats of tensors and weights lie in memory as float, where the kernel's HALF is 1 as half; all arithmetic is float.
 * Integers are read and stored as they are, with HALF 0. Four elements begin at a multiple of four from a start at 16
 * bytes. */
#define MG_JOIN_(a, b) a##b
#define MG_JOIN(a, b) MG_JOIN_(a, b)
#define MG_FLOAT MG_JOIN(MG_FLOAT_, HALF)
#define MG_FLOAT_0 float
#define MG_FLOAT_1 half
#define MG_LOAD(p) MG_JOIN(MG_LOAD_, HALF)(p)
#define MG_LOAD_0(p) (*(p))
#define MG_LOAD_1(p) vload_half(0, p)
#define MG_LOAD4(p) MG_JOIN(MG_LOAD4_, HALF)(p)
#define MG_LOAD4_0(p) vload4(0, p)
#define MG_LOAD4_1(p) vloada_half4(0, p)
#define MG_WHOLE4(p) MG_JOIN(MG_WHOLE4_, HALF)(p) /* the same where vload4 would read them one by one */
#define MG_WHOLE4_0(p) (*(global const float4 *)(p))
#define MG_WHOLE4_1(p) vloada_half4(0, p)
#define MG_STORE(v, p) MG_JOIN(MG_STORE_, HALF)(v, p)
#define MG_STORE_0(v, p) (*(p) = (v))
#define MG_STORE_1(v, p) vstore_half_rte(v, 0, p)
#define MG_STORE4(v, p) MG_JOIN(MG_STORE4_, HALF)(v, p)
#define MG_STORE4_0(v, p) vstore4(v, 0, p)
#define MG_STORE4_1(v, p) vstorea_half4_rte(v, 0, p)
/* Stores the first `count` of four values, at least one. */
#define MG_STORE_SOME(v, to, count) \
    do { \
        MG_STORE((v).x, to); \
        if ((count) > 1) { \
            MG_STORE((v).y, (to) + 1); \
        } \
        if ((count) > 2) { \
            MG_STORE((v).z, (to) + 2); \
        } \
        if ((count) > 3) { \
            MG_STORE((v).w, (to) + 3); \
        } \
    } while (0)
#define MG_AT(type, name) ((global type *)(mem_##name + at_##name))
