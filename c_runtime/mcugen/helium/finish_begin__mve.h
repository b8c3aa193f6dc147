/* SPDX-License-Identifier: Apache-2.0
 *
 * Defines MG_LINEAR and MG_CLAMP for the value of MG_FINISH. finish_end__mve.h undefines them.
 */
#if MG_FINISH == 5
#define MG_LINEAR 3
#define MG_CLAMP 1
#elif MG_FINISH == 4
#define MG_LINEAR 2
#define MG_CLAMP 1
#elif MG_FINISH == 3
#define MG_LINEAR 2
#define MG_CLAMP 0
#elif MG_FINISH == 2
#define MG_LINEAR 1
#define MG_CLAMP 1
#elif MG_FINISH == 1
#define MG_LINEAR 1
#define MG_CLAMP 0
#else
#define MG_LINEAR 0
#define MG_CLAMP 0
#endif
