// SPDX-License-Identifier: Apache-2.0
// Firmware of TensorFlow Lite Micro for an emulated Cortex-M4: runs the model g_model three times, and prints a sum of its
// outputs and the bytes that it took of its arenas, through semihosting. ARENA, VARIABLES: bytes of the arenas; OPERATORS:
// how many operators operators.h registers.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/micro/debug_log.h"
#include "tensorflow/lite/micro/micro_allocator.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/schema/schema_generated.h"

extern const unsigned char g_model[];

namespace {

alignas(16) uint8_t arena[ARENA];
alignas(16) uint8_t variable_arena[VARIABLES + 1];

int hosted(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void print(const char *text)
{
    (void)hosted(4, text);
}

void print_hex(uint32_t value)
{
    char text[9] = {};
    for (int i = 0; i < 8; i += 1) {
        text[i] = "0123456789abcdef"[(value >> (28 - 4 * i)) & 15u];
    }
    print(text);
}

uint32_t run(tflite::MicroInterpreter &interpreter)
{
    static uint32_t random = 12345u, sum = 2166136261u;
    for (size_t k = 0u; k < interpreter.inputs_size(); k += 1u) {
        TfLiteTensor *const input = interpreter.input(k);
        for (size_t i = 0u; i < input->bytes; i += 1u) {
            random = random * 1664525u + 1013904223u;
            if (input->type != kTfLiteFloat32) {
                input->data.uint8[i] = static_cast<uint8_t>(random >> 24);
            } else if (i % sizeof(float) == 0u) {
                input->data.f[i / sizeof(float)] = 0.0625f * static_cast<float>(static_cast<int8_t>(random >> 24));
            }
        }
    }
    SIM_BEGIN();
    const TfLiteStatus status = interpreter.Invoke();
    SIM_END();
    if (status != kTfLiteOk) {
        print("Invoke failed\n");
    }
    for (size_t k = 0u; k < interpreter.outputs_size(); k += 1u) {
        const TfLiteTensor *const output = interpreter.output(k);
        for (size_t i = 0u; i < output->bytes; i += 1u) {
            sum = (sum ^ output->data.uint8[i]) * 16777619u;
        }
    }
    return sum;
}

void firmware()
{
    const tflite::Model *const model = tflite::GetModel(g_model);
    tflite::MicroMutableOpResolver<OPERATORS> resolver;
#include "operators.h"
    tflite::MicroResourceVariables *variables = nullptr;
    tflite::MicroAllocator *of_variables = nullptr;
    if (VARIABLES != 0) {
        of_variables = tflite::MicroAllocator::Create(variable_arena, VARIABLES);
        variables = tflite::MicroResourceVariables::Create(of_variables, 20);
    }
    tflite::MicroInterpreter interpreter(model, resolver, arena, sizeof arena, variables);
    if (interpreter.AllocateTensors() != kTfLiteOk) {
        print("AllocateTensors failed\n");
        return;
    }
    (void)run(interpreter);
    (void)run(interpreter);
    const uint32_t sum = run(interpreter);
    print("sum ");
    print_hex(sum);
    print(" used ");
    print_hex(interpreter.arena_used_bytes() + (VARIABLES != 0 ? of_variables->used_bytes() : 0u));
    print("\n");
}

} // namespace

// What the port of firmware brings: text, a start of the core with its FPU, and what a C++ library would have.
void DebugLog(const char *format, va_list)
{
    print(format);
}

extern "C" {
extern uint32_t stack_top[], data_load[], data_start[], data_end[];
extern void (*begin[])(), (*end[])();
void __cxa_pure_virtual()
{
    print("pure virtual\n");
}
void start()
{
    *reinterpret_cast<volatile uint32_t *>(0xE000ED88u) |= 0xF00000u;
    for (size_t i = 0u; data_start + i < data_end; i += 1u) {
        data_start[i] = data_load[i];
    }
    for (size_t i = 0u; begin + i < end; i += 1u) {
        begin[i]();
    }
    firmware();
    (void)hosted(0x18, reinterpret_cast<const void *>(0x20026));
}
__attribute__((section(".vectors"), used)) const void *const vectors[] = {
    stack_top, reinterpret_cast<const void *>(start)
};
}
void operator delete(void *) noexcept {}
void operator delete(void *, size_t) noexcept {}
