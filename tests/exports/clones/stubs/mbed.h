/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cstdint>

enum { USBTX, USBRX, D7 };
struct UnbufferedSerial {
    UnbufferedSerial(int, int) {}
    void write(const void *, int) {}
    void baud(int) {}
    void attach(void (*)()) {}
    int read(void *, int)
    {
        return 0;
    }
};
struct DigitalOut {
    explicit DigitalOut(int) {}
    DigitalOut &operator=(int)
    {
        return *this;
    }
};
struct Timer {
    struct Duration {
        long count()
        {
            return 0;
        }
    };
    void start() {}
    Duration elapsed_time()
    {
        return {};
    }
};
inline uint32_t us_ticker_read()
{
    return 0;
}
