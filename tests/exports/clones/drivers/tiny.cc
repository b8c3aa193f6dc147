// SPDX-License-Identifier: Apache-2.0
// Runs the benchmark's keyword spotting on the first of its inputs.
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "api/internally_implemented.h"
#include "api/submitter_implemented.h"
#include "kws/kws_input_data.h"

size_t ee_get_buffer(uint8_t *buffer, size_t bytes)
{
    std::memcpy(buffer, g_kws_inputs[0], bytes);
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
