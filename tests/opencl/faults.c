/* SPDX-License-Identifier: Apache-2.0
 *
 * Initializes and runs a model; where a call fails, once more. Prints what was said, and the outputs' first byte sum.
 */
#include <stdio.h>
#include <string.h>

#include MODEL_HEADER

void test_mark(const char *title);
static MODEL_T model;

static int attempt(void)
{
    if (MODEL(init)(&model) != 0) {
        return 1;
    }
    test_mark("init");
    memset(MODEL(input)(&model), 0, INPUT_BYTES);
    if (MODEL(run)(&model) != 0) {
        return 1;
    }
    test_mark("run");
    return 0;
}

int main(void)
{
    for (int k = 0; k < 2; k += 1) {
        if (attempt() == 0) {
            const unsigned char *const y = (const unsigned char *)MODEL(output)(&model);
            unsigned sum = 0u;
            for (unsigned i = 0u; i < OUTPUT_BYTES; i += 1u) {
                sum = sum * 31u + y[i];
            }
            printf("outputs %u\n", sum);
            break;
        }
        printf("said %s\n", MODEL(text)(&model));
        test_mark("failed");
    }
    MODEL(deinit)(&model);
    test_mark("end");
    return 0;
}
