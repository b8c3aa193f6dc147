// SPDX-License-Identifier: Apache-2.0
// Zephyr, of which the program uses nothing.
