/* SPDX-License-Identifier: Apache-2.0
 *
 * Included by every model header, in C and in C++: attributes, and types that may alias the arena.
 */
#ifndef MCUGEN_INTERFACE_H
#define MCUGEN_INTERFACE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MCUGEN_RUNTIME_ABI 1

#if defined(MCUGEN_CHECK_TEXT)
#define MCUGEN_INFINITY 1.0f
#define MCUGEN_NAN 1.0f
#define MCUGEN_ALIGNED(n)
#define MCUGEN_SECTION(name)
#define MCUGEN_MAY_ALIAS
#define MCUGEN_UNUSED
#define MCUGEN_INLINE inline
#elif defined(__GNUC__) || defined(__clang__)
#define MCUGEN_INFINITY (__builtin_inff())
#define MCUGEN_NAN (__builtin_nanf(""))
#define MCUGEN_ALIGNED(n) __attribute__((aligned(n)))
#define MCUGEN_SECTION(name) __attribute__((section(name)))
#define MCUGEN_MAY_ALIAS __attribute__((may_alias))
#define MCUGEN_UNUSED __attribute__((unused))
#define MCUGEN_INLINE inline __attribute__((always_inline))
#else
#error "mcugen needs a compiler with GNU attributes: gcc or clang (armclang and current IAR understand them too)"
#endif

/* Compile-time assertion for C99, C11 and C++: an array has a negative size if the condition is false. */
#define MCUGEN_JOIN_(a, b) a##b
#define MCUGEN_JOIN(a, b) MCUGEN_JOIN_(a, b)
#define MCUGEN_STATIC_ASSERT(condition) \
    typedef char MCUGEN_JOIN(mcugen_assert_, __LINE__)[(condition) ? 1 : -1] MCUGEN_UNUSED

/* The arena is an array of bytes: wider elements are accessed through types that may alias it. */
typedef int16_t MCUGEN_MAY_ALIAS mg_s16;
typedef int32_t MCUGEN_MAY_ALIAS mg_s32;
typedef int64_t MCUGEN_MAY_ALIAS mg_s64;
typedef uint32_t MCUGEN_MAY_ALIAS mg_u32;
typedef uint64_t MCUGEN_MAY_ALIAS mg_u64;
typedef float MCUGEN_MAY_ALIAS mg_f32;

/* A cast that causes no style warnings in C++. */
#ifdef __cplusplus
#define MCUGEN_CAST(type, value) static_cast<type>(value)
#else
#define MCUGEN_CAST(type, value) ((type)(value))
#endif

#endif /* MCUGEN_INTERFACE_H */
