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
#define INT64_MAX LONG_MAX
#define INT64_MIN LONG_MIN
#define MG_AT(type, name) ((global type *)(mem_##name + at_##name))
