/* SPDX-License-Identifier: Apache-2.0 */
#undef MG_LINEAR
#undef MG_CLAMP
