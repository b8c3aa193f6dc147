# SPDX-License-Identifier: Apache-2.0
"""The runtimes whose bits integer operators have: those of .tflite models."""

from __future__ import annotations

from mcugen.formats import read

REFERENCES = read.references("tflite")
