# SPDX-License-Identifier: Apache-2.0
"""Tests that need an OpenCL driver: PoCL is one."""

from __future__ import annotations

from pathlib import Path

import pytest

VENDORS = Path("/etc/OpenCL/vendors")
IS_THERE = any(VENDORS.glob("*.icd")) and Path("/usr/include/CL/cl.h").is_file()
needed = pytest.mark.skipif(not IS_THERE, reason="there is no OpenCL driver: ci/setup installs PoCL")
