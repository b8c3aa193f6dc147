/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the hash of each beginning of the bytes 0, 7, 14, ... that has fewer than 200. */
#include "mcugen/opencl_internal.h"

#include <stdio.h>

int main(void)
{
    uint8_t bytes[200], hash[HASH];
    for (size_t size = 0u; size < sizeof bytes; size += 1u) {
        bytes[size] = (uint8_t)(7u * size);
        mg_cl_sha256(bytes, size, hash);
        for (size_t k = 0u; k < HASH; k += 1u) {
            (void)printf("%02x", (unsigned)hash[k]);
        }
        (void)printf("\n");
    }
    return 0;
}
