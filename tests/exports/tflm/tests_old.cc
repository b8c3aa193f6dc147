// SPDX-License-Identifier: Apache-2.0
// Tests written with TensorFlow Lite Micro's macros: those before 2025, whose main is called by this firmware's.
#include "tensorflow/lite/micro/all_ops_resolver.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/testing/micro_test.h"
#include "tensorflow/lite/schema/schema_generated.h"

#include "expected.h"

extern const unsigned char g_digits_data[];
int older_tests();

static uint8_t arena[5000];

#define main older_tests
TF_LITE_MICRO_TESTS_BEGIN

TF_LITE_MICRO_TEST(ComputesDigits)
{
    tflite::AllOpsResolver resolver;
    tflite::MicroInterpreter interpreter(tflite::GetModel(g_digits_data), resolver, arena, sizeof arena);
    TF_LITE_MICRO_EXPECT_EQ(interpreter.AllocateTensors(), kTfLiteOk);
    memcpy(interpreter.input(0)->data.int8, digits_in0, sizeof digits_in0);
    TF_LITE_MICRO_EXPECT(interpreter.Invoke() == kTfLiteOk);
    for (int k = 0; k < 10; k += 1) {
        TF_LITE_MICRO_EXPECT_EQ(interpreter.output(0)->data.int8[k], digits_out0[k]);
    }
    TF_LITE_MICRO_EXPECT_NEAR(interpreter.output(0)->params.scale, 0.00390625f, 1e-9);
}

TF_LITE_MICRO_TEST(ComparesNumbers)
{
    TF_LITE_MICRO_EXPECT_NE(1, 2);
    TF_LITE_MICRO_EXPECT_GT(2, 1);
    TF_LITE_MICRO_EXPECT_LE(2, 2);
}

TF_LITE_MICRO_TESTS_END
