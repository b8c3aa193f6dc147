# SPDX-License-Identifier: Apache-2.0
"""Written repositories of firmware for TensorFlow Lite Micro, one for each build system."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.exports.recorded import MODELS

RELU = (MODELS / "f32_relu.tflite").read_bytes()
TANH = (MODELS / "f32_tanh.tflite").read_bytes()
HEADERS = """#include <stdio.h>
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/schema/schema_generated.h"
"""
BODY = """
namespace {
constexpr int kTensorArenaSize = 5 * 1024 + 0x10;
alignas(16) uint8_t tensor_arena[kTensorArenaSize];
}  // namespace
const char *text = R"x(a { brace, a "quote", and GetModel(g_other) )x";

static int run_once()
{
    const tflite::Model *model = tflite::GetModel(g_model);
    if (model->version() != TFLITE_SCHEMA_VERSION) {
        return 1;
    }
    static tflite::MicroMutableOpResolver<2> resolver;
    resolver.AddRelu();
    resolver.AddSoftmax();
    static tflite::MicroInterpreter interpreter(model, resolver, tensor_arena, kTensorArenaSize);
    if (interpreter.AllocateTensors() != kTfLiteOk) {
        return 2;
    }
    TfLiteTensor *input = interpreter.input(0);
    for (unsigned i = 0; i < input->bytes / sizeof(float); i += 1) {
        input->data.f[i] = i % 2 ? 1.5f : -1.5f;
    }
    if (interpreter.Invoke() != kTfLiteOk) {
        return 3;
    }
    MicroPrintf("outputs %d %d of %d\\n", (int)(2 * interpreter.output(0)->data.f[0]),
                (int)(2 * interpreter.output(0)->data.f[1]), (int)sizeof g_model_copy);
    return 0;
}
"""
EXTERN = '#include "model.h"\n'
MAIN = HEADERS + EXTERN + BODY + "int main()\n{\n    return run_once();\n}\n"
MODEL_H = (
    "extern const unsigned char g_model[];\nextern const unsigned int g_model_len;\nextern char g_model_copy[616];\n"
)
PRINTS = "outputs 0 3 of 616"


def array(name: str, data: bytes = RELU, before: str = "alignas(8) const unsigned char", after: str = "") -> str:
    lines = [", ".join(f"0x{byte:02x}" for byte in data[k : k + 12]) for k in range(0, len(data), 12)]
    return f"{before} {name}[]{after} = {{\n    " + ",\n    ".join(lines) + "};\n"


COPY = "char g_model_copy[616];\n"
MODEL_CC = f'// The model.\n#include "model.h"\n\n{array("g_model")}const unsigned int g_model_len = 616;\n{COPY}'
PLAIN = {"src/main.cc": MAIN, "src/model.cc": MODEL_CC, "src/model.h": MODEL_H}

TREES: dict[str, dict[str, str]] = {
    "cmake": PLAIN
    | {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.12)\nproject(firmware CXX)\n"
        "set(SOURCES src/main.cc\n  src/model.cc)\nadd_executable(firmware ${SOURCES}) # all\n"
        "add_compile_definitions(MCUGEN_TFLM_LEAN)\ntarget_link_libraries(firmware tflite-micro m)\n"
        "target_include_directories(firmware PRIVATE tflm)\n",
        "tflm/tensorflow/lite/micro/micro_interpreter.h": "#error the old header\n",
    },
    "make": PLAIN
    | {
        "Makefile": "CXXFLAGS := -O0 -DMCUGEN_TFLM_LEAN -Itflm\nOBJS := src/main.o src/model.o\n\nfirmware: $(OBJS)\n"
        "\t$(CXX) $(CXXFLAGS) -o $@ $^\n\n%.o: %.cc\n\t$(CXX) $(CXXFLAGS) -c $< -o $@\n",
        "tflm/tensorflow/lite/micro/micro_interpreter.h": "#error the old header\n",
    },
    "platformio": PLAIN
    | {
        "platformio.ini": "[env]\nframework = arduino\nbuild_flags = -Wall\n\n[env:board]\nplatform = ststm32\n"
        "lib_deps =\n    tanakamasayuki/TensorFlowLite_ESP32 @ ^1.0.0\n    bblanchon/ArduinoJson\n",
        "lib/tfmicro/library.json": "{}\n",
    },
    "arduino": {
        "sketch/sketch.ino": "#include <TensorFlowLite.h>\n"
        f"{HEADERS}{EXTERN}{BODY}void setup() {{ run_once(); }}\nvoid loop() {{}}\n",
        "sketch/model.h": "#include <Arduino.h>\n" + MODEL_H,
        "sketch/model.cpp": '#include "model.h"\n' + array("g_model", before="const uint8_t", after=" PROGMEM") + COPY,
    },
    "esp-idf": {
        "main/CMakeLists.txt": "idf_component_register(\n    SRCS \"main.cc\" \"model.cc\"\n"
        "    PRIV_REQUIRES esp-tflite-micro spi_flash\n    INCLUDE_DIRS \"\")\n",
        "main/idf_component.yml": 'dependencies:\n  espressif/esp-tflite-micro:\n    version: "*"\n',
        "main/main.cc": MAIN,
        "main/model.cc": MODEL_CC,
        "main/model.h": MODEL_H,
    },
    "mbed": {
        "mbed_app.json": "{}\n",
        "main.cpp": MAIN,
        "model.cpp": MODEL_CC,
        "model.h": MODEL_H,
        "tensorflow-lite/README.md": "The library is copied here.\n",
    },
    "zephyr": PLAIN
    | {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nfind_package(Zephyr REQUIRED)\nproject(app)\n"
        "file(GLOB app_sources src/*)\ntarget_sources(app PRIVATE ${app_sources})",
        "prj.conf": "CONFIG_CPP=y\nCONFIG_TENSORFLOW_LITE_MICRO=y\nCONFIG_MAIN_STACK_SIZE=2048\n",
    },
}  # fmt: skip

EMBEDDED = {
    "main/main.cc": MAIN.replace(
        '#include "model.h"\n', 'extern const uint8_t model_start[] asm("_binary_sine_v1_tflite_start");\n'
    )
    .replace("GetModel(g_model)", "GetModel(model_start)")
    .replace("sizeof g_model_copy", "616"),
    "main/sine-v1.tflite": RELU,
}
"""Firmware whose build puts the model's file into it."""
EMBEDDING: dict[str, tuple[str, str]] = {
    "esp-idf": (
        "main/CMakeLists.txt",
        'idf_component_register(SRCS main.cc INCLUDE_DIRS "."\n    EMBED_FILES "sine-v1.tflite" logo.png)\n',
    ),
    "esp-idf: a command": (
        "main/CMakeLists.txt",
        'idf_component_register(SRCS main.cc INCLUDE_DIRS ".")\n'
        'target_add_binary_data(${COMPONENT_LIB}\n    "sine-v1.tflite"\n    BINARY)\n',
    ),
    "esp-idf: a variable": (
        "main/CMakeLists.txt",
        "set(files ${CMAKE_CURRENT_LIST_DIR}/sine-v1.tflite logo.png)\n"
        "idf_component_register(SRCS main.cc EMBED_FILES ${files})\n",
    ),
    "platformio": (
        "platformio.ini",
        "[env:board]\nframework = espidf\nboard_build.embed_files =\n    main/sine-v1.tflite\n    main/logo.png\n",
    ),
}


def written(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """A repository with these files, all of them committed."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "firmware")
    return folder


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()
