/* SPDX-License-Identifier: Apache-2.0
 *
 * Included by kernels that read several elements as one word. Their constants are packed for little-endian machines;
 * on other machines the results would be wrong.
 */
#ifndef MCUGEN_LITTLE_ENDIAN_H
#define MCUGEN_LITTLE_ENDIAN_H

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "these kernels are for little-endian machines: build the model for another core, such as cortex-m0plus"
#endif

#endif /* MCUGEN_LITTLE_ENDIAN_H */
