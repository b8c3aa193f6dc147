/* SPDX-License-Identifier: Apache-2.0 */
/* The file in.bin and the console of an emulated core; boards/_common/README.md. */
#include "io.h"

#include "semihost.h"

bool io_read(void *data, uint32_t length)
{
    static int file = -1;
    static uint32_t left;
    if (file < 0) {
        file = sim_open_read("in.bin");
        left = sim_file_length(file);
    }
    if (left < length) {
        return false;
    }
    sim_read(file, data, length);
    left -= length;
    return true;
}

void io_print(const char *text)
{
    sim_print(text);
}

void io_print_number(int32_t value)
{
    char text[13];
    uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
    int at = 12;
    text[at] = '\0';
    do {
        at -= 1;
        text[at] = (char)('0' + (int)(rest % 10u));
        rest /= 10u;
    } while (rest != 0u);
    if (value < 0) {
        at -= 1;
        text[at] = '-';
    }
    at -= 1;
    text[at] = ' ';
    sim_print(&text[at]);
}
