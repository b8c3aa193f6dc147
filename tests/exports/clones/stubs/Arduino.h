/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

typedef bool boolean;
typedef uint8_t byte;
#define HIGH 1
#define LOW 0
#define OUTPUT 1
#define LED_BUILTIN 13
#define LEDR 22
#define LEDG 23
#define LEDB 24

inline void pinMode(int, int) {}
inline void digitalWrite(int, int) {}
inline void analogWrite(int, int) {}
inline void delay(unsigned long) {}
inline unsigned long millis()
{
    static unsigned long now;
    now += 10;
    return now;
}
inline unsigned long micros()
{
    return millis() * 1000;
}

struct String : std::string {
    using std::string::string;
    String(const std::string &text) : std::string(text) {}
    String(const char *text = "") : std::string(text) {}
    String &operator+=(char c)
    {
        push_back(c);
        return *this;
    }
    void toUpperCase()
    {
        for (char &c : *this) {
            c = static_cast<char>(std::toupper(c));
        }
    }
};

struct SerialStub {
    void begin(long) {}
    template <class Value> void print(Value) {}
    template <class Value> void println(Value) {}
    void println() {}
    operator bool() const
    {
        return true;
    }
    size_t write(const uint8_t *, size_t count)
    {
        return count;
    }
    size_t write(int)
    {
        return 1;
    }
    void flush() {}
};
static SerialStub Serial;

extern "C" {
void setup();
void loop();
}
