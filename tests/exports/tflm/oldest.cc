// SPDX-License-Identifier: Apache-2.0
// An application of 2019: a resolver that is no template, an allocator on the stack, and no AllocateTensors.
#include <TensorFlowLite.h>
#include "tensorflow/lite/c/c_api_internal.h"
#include "tensorflow/lite/experimental/micro/kernels/all_ops_resolver.h"
#include "tensorflow/lite/experimental/micro/kernels/micro_ops.h"
#include "tensorflow/lite/experimental/micro/micro_error_reporter.h"
#include "tensorflow/lite/experimental/micro/micro_interpreter.h"
#include "tensorflow/lite/experimental/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/experimental/micro/simple_tensor_allocator.h"
#include "tensorflow/lite/schema/schema_generated.h"
#include "tensorflow/lite/version.h"

#include "checks.h"
#include "expected.h"

extern unsigned char g_digits_data[]; // not const, as it was generated then
void oldest_applications();

namespace {

uint8_t tensor_arena[5000];
tflite::ErrorReporter *error_reporter = nullptr;

bool computes(tflite::MicroInterpreter *interpreter)
{
    memcpy(interpreter->input(0)->data.int8, digits_in0, sizeof digits_in0);
    if (interpreter->Invoke() != kTfLiteOk) {
        error_reporter->Report("Invoke failed");
        return false;
    }
    return memcmp(interpreter->output(0)->data.raw, digits_out0, sizeof digits_out0) == 0;
}

} // namespace

void oldest_applications()
{
    tflite::MicroErrorReporter micro_error_reporter;
    error_reporter = &micro_error_reporter;
    const tflite::Model *model = ::tflite::GetModel(g_digits_data);
    if (model->version() != TFLITE_SCHEMA_VERSION) {
        error_reporter->Report("Model provided is schema version %d, not %d", model->version(), TFLITE_SCHEMA_VERSION);
    }
    static tflite::MicroMutableOpResolver some;
    some.AddBuiltin(tflite::BuiltinOperator_CONV_2D, tflite::ops::micro::Register_CONV_2D());
    some.AddBuiltin(tflite::BuiltinOperator_SOFTMAX, tflite::ops::micro::Register_SOFTMAX(), 1, 2);
    tflite::ops::micro::AllOpsResolver all;
    tflite::SimpleTensorAllocator tensor_allocator(tensor_arena, sizeof tensor_arena);
    tflite::MicroInterpreter first(model, all, &tensor_allocator, error_reporter);
    CHECK(first.input(0)->dims->size == 4 && computes(&first));
    tflite::MicroInterpreter second(model, some, tensor_arena, sizeof tensor_arena, error_reporter);
    CHECK(second.AllocateTensors() == kTfLiteOk && computes(&second));
}
