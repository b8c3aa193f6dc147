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
/* Stores the first `count` of four values, at least one. */
#define MG_STORE_SOME(v, to, count) \
    do { \
        (to)[0] = (v).x; \
        if ((count) > 1) { \
            (to)[1] = (v).y; \
        } \
        if ((count) > 2) { \
            (to)[2] = (v).z; \
        } \
        if ((count) > 3) { \
            (to)[3] = (v).w; \
        } \
    } while (0)
#define MG_AT(type, name) ((global type *)(mem_##name + at_##name))
