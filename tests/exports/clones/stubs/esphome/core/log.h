/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cstdio>

#define ESP_LOGE(tag, ...) (printf(__VA_ARGS__), printf("\n"))
#define ESP_LOGW(tag, ...) ESP_LOGE(tag, __VA_ARGS__)
#define ESP_LOGD(tag, ...) ESP_LOGE(tag, __VA_ARGS__)
#define ESP_LOGCONFIG(tag, ...) ((void)0)
