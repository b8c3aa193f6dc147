/* SPDX-License-Identifier: Apache-2.0
 * Checks of the written applications: each that fails prints its line and is counted. */
#ifndef CHECKS_H
#define CHECKS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern int checks, failures;

inline void check(bool holds, const char *what, const char *file, int line)
{
    checks += 1;
    if (!holds) {
        failures += 1;
        printf("%s:%d: %s\n", file, line, what);
    }
}
#define CHECK(x) check((x), #x, __FILE__, __LINE__)

/* Text that the firmware printed through DebugLog since the last call of forget(). */
extern char said[512];
void forget();

#endif
