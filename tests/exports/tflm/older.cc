// SPDX-License-Identifier: Apache-2.0
// Applications of 2020 to 2022: reporters, operators by number, and two models one after another.
#include "tensorflow/lite/micro/all_ops_resolver.h"
#include "tensorflow/lite/micro/kernels/micro_ops.h"
#include "tensorflow/lite/micro/micro_error_reporter.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_profiler.h"
#include "tensorflow/lite/micro/tflite_bridge/micro_error_reporter.h"
#include "tensorflow/lite/schema/schema_generated.h"
#include "tensorflow/lite/version.h"
#include "TensorFlowLite.h"

#include "checks.h"
#include "expected.h"
#include "softmax_data.h" // the flatbuffer of a float model, static in a header

extern const unsigned char g_digits_data[];

namespace {

uint8_t tensor_arena[5000];
tflite::ErrorReporter *error_reporter = nullptr;

/* A reporter of the application. */
class Reporter : public tflite::ErrorReporter {
  public:
    ~Reporter() override = default;
    int Report(const char *format, va_list arguments) override
    {
        return vsnprintf(text, sizeof text, format, arguments);
    }
    char text[64];
};

bool computes(tflite::MicroInterpreter *interpreter)
{
    memcpy(interpreter->input(0)->data.int8, digits_in0, sizeof digits_in0);
    if (interpreter->Invoke() != kTfLiteOk) {
        TF_LITE_REPORT_ERROR(error_reporter, "Invoke failed");
        return false;
    }
    return memcmp(interpreter->output(0)->data.raw, digits_out0, sizeof digits_out0) == 0;
}

void of_2020()
{
    static tflite::MicroErrorReporter micro_error_reporter;
    error_reporter = &micro_error_reporter;
    static tflite::MicroMutableOpResolver<3> resolver(error_reporter);
    resolver.AddBuiltin(tflite::BuiltinOperator_DEPTHWISE_CONV_2D, tflite::ops::micro::Register_DEPTHWISE_CONV_2D(), 1, 3);
    resolver.AddBuiltin(tflite::BuiltinOperator_CONV_2D, tflite::ops::micro::Register_CONV_2D());
    static tflite::MicroInterpreter interpreter(tflite::GetModel(g_digits_data), resolver, tensor_arena, sizeof tensor_arena,
                                                error_reporter);
    CHECK(interpreter.AllocateTensors() == kTfLiteOk && computes(&interpreter));
    forget();
    TF_LITE_REPORT_ERROR(error_reporter, "sum %d of %s", 3, "inputs");
    CHECK(strcmp(said, "sum 3 of inputs\r\n") == 0);
    Reporter own;
    error_reporter = &own;
    error_reporter->Report("%d", 42);
    CHECK(strcmp(own.text, "42") == 0);
    forget();
    tflite::GetMicroErrorReporter()->Report("%s", "now");
    CHECK(strcmp(said, "now\r\n") == 0);
}

void of_2022()
{
    tflite::MicroProfiler profiler;
    tflite::AllOpsResolver resolver;
    tflite::MicroInterpreter interpreter(tflite::GetModel(g_digits_data), resolver, tensor_arena, sizeof tensor_arena,
                                         tflite::GetMicroErrorReporter(), nullptr, &profiler);
    CHECK(interpreter.AllocateTensors() == kTfLiteOk && computes(&interpreter) && profiler.GetTotalTicks() > 0u);
}

/* An engine that takes its arena for each inference, and tells AllocateTensors to run its own way. */
void anew_for_each_inference()
{
    tflite::AllOpsResolver resolver;
    for (int k = 0; k < 3; k += 1) {
        uint8_t *taken = static_cast<uint8_t *>(calloc(4000u, 1u));
        tflite::MicroInterpreter interpreter(tflite::GetModel(g_digits_data), resolver, taken, 4000u);
        CHECK(interpreter.AllocateTensors(true) == kTfLiteOk && computes(&interpreter));
        free(taken);
    }
}

void two_models_in_one_arena()
{
    tflite::AllOpsResolver resolver;
    for (int k = 0; k < 2; k += 1) {
        tflite::MicroInterpreter floats(tflite::GetModel(softmax_data), resolver, tensor_arena, sizeof tensor_arena);
        CHECK(floats.AllocateTensors() == kTfLiteOk);
        CHECK(floats.input(0)->type == kTfLiteFloat32 && floats.input(0)->params.scale == 0.0f);
        CHECK(floats.input(0)->quantization.type == kTfLiteNoQuantization && floats.inputs_size() == 6u);
        const float *const inputs[] = { softmax_in0, softmax_in1, softmax_in2, softmax_in3, softmax_in4, softmax_in5 };
        for (unsigned i = 0u; i < floats.inputs_size(); i += 1u) {
            memcpy(tflite::GetTensorData<float>(floats.input(i)), inputs[i], floats.input(i)->bytes);
        }
        CHECK(floats.Invoke() == kTfLiteOk && floats.output(2)->bytes == sizeof softmax_out2);
        bool near = true;
        for (unsigned i = 0u; i < sizeof softmax_out2 / sizeof softmax_out2[0]; i += 1u) {
            const float apart = floats.output(2)->data.f[i] - softmax_out2[i];
            near = near && apart < 1e-5f && apart > -1e-5f;
        }
        CHECK(near);
        tflite::MicroInterpreter digits(tflite::GetModel(g_digits_data), resolver, tensor_arena, sizeof tensor_arena);
        CHECK(digits.AllocateTensors() == kTfLiteOk && computes(&digits));
    }
}

} // namespace

void older_applications()
{
    of_2020();
    of_2022();
    anew_for_each_inference();
    two_models_in_one_arena();
}
