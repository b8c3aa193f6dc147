/* SPDX-License-Identifier: Apache-2.0
 *
 * Template: MG_EACH(f) is f(0) f(1) and so on, MG_PIXELS times, at most 8.
 */
#undef MG_EACH
#if MG_PIXELS == 1
#define MG_EACH(f) f(0)
#elif MG_PIXELS == 2
#define MG_EACH(f) f(0) f(1)
#elif MG_PIXELS == 3
#define MG_EACH(f) f(0) f(1) f(2)
#elif MG_PIXELS == 4
#define MG_EACH(f) f(0) f(1) f(2) f(3)
#elif MG_PIXELS == 5
#define MG_EACH(f) f(0) f(1) f(2) f(3) f(4)
#elif MG_PIXELS == 6
#define MG_EACH(f) f(0) f(1) f(2) f(3) f(4) f(5)
#elif MG_PIXELS == 7
#define MG_EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6)
#else
#define MG_EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
#endif
