/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cstdint>

inline int64_t esp_timer_get_time()
{
    return 0;
}
