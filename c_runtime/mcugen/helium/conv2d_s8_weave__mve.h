/* SPDX-License-Identifier: Apache-2.0
 *
 * Interleaves input rows, see conv2d_s8__mve_woven.h. MG_BY_ONE, MG_BY_THREE: 1 to define the function that
 * interleaves one row, and the function that interleaves three.
 */
#if MG_ROWS > 1
#if MG_HAS_MVE
/* MG_WOVEN copies MG_CHUNK bytes of an input row: it scatters the bytes of each vector to the byte offsets in `places`,
 * counted from r6. row: data pointer; next: bytes to the next vector */
#define MG_WOVEN_VECTOR(row, places, next)  \
    "vldrb.u8 q0, [" row "], #" next "\n"   \
    "vstrb.8 q0, [r6, " places "]\n"
#define MG_WOVEN(row)                       \
    ".if chunk == 48\n"                     \
    MG_WOVEN_VECTOR(row, "q1", "16")        \
    MG_WOVEN_VECTOR(row, "q2", "16")        \
    MG_WOVEN_VECTOR(row, "q3", "16")        \
    ".else\n"                               \
    MG_WOVEN_VECTOR(row, "q1", "chunk")     \
    ".endif\n"

/* Copies up to 16 of the last bytes of a row, from byte `done` on. */
#define MG_WOVEN_LAST(row, places, done)            \
    ".if used > " done "\n"                         \
    "mov r4, #used - (" done ")\n"                  \
    "vctp.8 r4\n"                                   \
    "vpstt\n"                                       \
    "vldrbt.u8 q0, [" row "], #16\n"                \
    "vstrbt.8 q0, [r6, " places "]\n"               \
    ".endif\n"
#define MG_WOVEN_REST(row)                          \
    MG_WOVEN_LAST(row, "q1", "chunks * chunk")      \
    ".if chunk == 48\n"                             \
    MG_WOVEN_LAST(row, "q2", "chunks * chunk + 16") \
    MG_WOVEN_LAST(row, "q3", "chunks * chunk + 32") \
    ".endif\n"

/* Interleaves one or three rows, MG_CHUNK bytes of each at a time. loaded: code that loads the row pointers;
 * each(part): applies the macro `part` to each row, and advances r6 by `moved` bytes in total */
#define MG_WOVEN_ROWS(loaded, each, moved)                          \
    ".set channels, " MG_TEXT(MG_CHANNELS) "\n"                     \
    ".set chunk, " MG_TEXT(MG_CHUNK) "\n"                           \
    ".set used, " MG_TEXT(MG_USED) "\n"                             \
    ".if chunk %% 16 == 0\n"                                        \
    ".set chunks, used / chunk\n"                                   \
    ".elseif used < 16\n"                                           \
    ".set chunks, 0\n"                                              \
    ".else\n"                                                       \
    ".set chunks, (used - 16) / chunk + 1\n"                        \
    ".endif\n"                                                      \
    "vldrb.u8 q1, [%2]\n"                                           \
    ".if chunk == 48\n"                                             \
    "vldrb.u8 q2, [%2, #16]\n"                                      \
    "vldrb.u8 q3, [%2, #32]\n"                                      \
    ".endif\n"                                                      \
    loaded                                                          \
    "mov r6, %1\n"                                                  \
    ".if chunks > 0\n"                                              \
    "movw lr, #chunks\n"                                            \
    "dls lr, lr\n"                                                  \
    "2:\n"                                                          \
    each(MG_WOVEN)                                                  \
    "addw r6, r6, #chunk / channels * " MG_TEXT(MG_COLUMN) " - (" moved ")\n" \
    "le lr, 2b\n"                                                   \
    ".endif\n"                                                      \
    each(MG_WOVEN_REST)

/* Interleaves a row. */
#if MG_BY_ONE
#define MG_WOVEN_ONE(part) part("r5")
static void MG_VARIANT(weave)(const int8_t *row, const uint8_t *places, int8_t *woven)
{
    __asm__ volatile(MG_WOVEN_ROWS("mov r5, %0\n", MG_WOVEN_ONE, "0")
                     :
                     : "r"(row), "r"(woven), "r"(places)
                     : "q0", "q1", "q2", "q3", "r4", "r5", "r6", "lr", "cc", "memory");
}
#undef MG_WOVEN_ONE
#endif

/* Interleaves three rows. */
#if MG_BY_THREE
#define MG_WOVEN_THREE(part)            \
    part("r5")                          \
    "add r6, r6, #channels\n"           \
    part("r9")                          \
    "add r6, r6, #channels\n"           \
    part("r8")
static void MG_VARIANT(weave_three)(const int8_t *const *rows, const uint8_t *places, int8_t *woven)
{
    __asm__ volatile(MG_WOVEN_ROWS("ldrd r5, r9, [%0]\n ldr r8, [%0, #8]\n", MG_WOVEN_THREE, "2 * channels")
                     :
                     : "r"(rows), "r"(woven), "r"(places)
                     : "q0", "q1", "q2", "q3", "r4", "r5", "r6", "r8", "r9", "lr", "cc", "memory");
}
#undef MG_WOVEN_THREE
#endif
#undef MG_WOVEN_VECTOR
#undef MG_WOVEN
#undef MG_WOVEN_LAST
#undef MG_WOVEN_REST
#undef MG_WOVEN_ROWS
#else
static void MG_VARIANT(weave)(const int8_t *row, const uint8_t *places, int8_t *woven)
{
    for (uint32_t i = 0u; i < MG_USED; i += 1u) {
        woven[i / MG_CHUNK * (MG_CHUNK / MG_CHANNELS * MG_COLUMN) + places[i % MG_CHUNK]] = row[i];
    }
}

#if MG_BY_THREE
static void MG_VARIANT(weave_three)(const int8_t *const *rows, const uint8_t *places, int8_t *woven)
{
    for (uint32_t k = 0u; k < 3u; k += 1u) {
        MG_VARIANT(weave)(rows[k], places, woven + k * MG_CHANNELS);
    }
}
#endif
#endif
#endif

#if MG_ROWS == 1
#define MG_WEAVE(p, row, woven) mg_copy_bytes(woven, row, MG_USED)
#else
#define MG_WEAVE(p, row, woven) MG_VARIANT(weave)(row, (p)->places, woven)
#endif
