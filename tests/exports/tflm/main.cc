// SPDX-License-Identifier: Apache-2.0
// Runs all written applications; the port of this firmware keeps what it is told to print.
#include "checks.h"
#include "tensorflow/lite/micro/debug_log.h"
#include "tensorflow/lite/micro/micro_time.h"
#include "tensorflow/lite/micro/system_setup.h"

int checks, failures;
char said[512];

void forget()
{
    said[0] = '\0';
}

extern "C" void DebugLog(const char *format, va_list arguments)
{
    const size_t used = strlen(said);
    (void)vsnprintf(said + used, sizeof said - used, format, arguments);
}

namespace tflite {
static uint32_t now;
uint32_t GetCurrentTimeTicks()
{
    now += 10u;
    return now;
}
uint32_t ticks_per_second()
{
    return 1000u;
}
} // namespace tflite

void newer_applications();
void older_applications();
void oldest_applications();
void further_applications();
void behaviour();
int test_applications();
int older_tests();

int main()
{
    tflite::InitializeTarget();
    newer_applications();
    older_applications();
    oldest_applications();
    further_applications();
    behaviour();
    CHECK(test_applications() == 0);
    CHECK(older_tests() == 0);
    printf("tflm: %d checks, %d failures\n", checks, failures);
    return failures != 0 ? 1 : 0;
}
