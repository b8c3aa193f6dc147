// SPDX-License-Identifier: Apache-2.0
// Runs the benchmark's anomaly detection on a ramp.
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "api/internally_implemented.h"
#include "api/submitter_implemented.h"

size_t ee_get_buffer(uint8_t *buffer, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(float); i += 1) {
        const float value = -40.0f + 0.05f * static_cast<float>(i);
        std::memcpy(buffer + sizeof(float) * i, &value, sizeof value);
    }
    return bytes;
}
void ee_serial_command_parser_callback(char *) {}
void ee_benchmark_initialize() {}
void ee_serial_callback(char) {}

int main()
{
    th_final_initialize();
    th_load_tensor();
    th_infer();
    th_results();
}
