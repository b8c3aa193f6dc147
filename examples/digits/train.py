# SPDX-License-Identifier: Apache-2.0
"""Trains a digit classifier and writes it as digits.tflite, with test images in digits_test.npz.

    python examples/digits/train.py [output folder]

Needs NumPy and scikit-learn (for its digits: 1,797 images of 8x8); takes well under a minute on one core.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from network import forward, initial_parameters, train
from quantize import predict, quantize, to_tflite
from sklearn.datasets import load_digits

SEED = 20
TEST_IMAGES = 397


def main(folder: Path) -> None:
    """Trains, quantizes, reports both accuracies and writes the two files."""
    rng = np.random.default_rng(SEED)
    folder.mkdir(parents=True, exist_ok=True)
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    images, labels = digits.images[order, :, :, None] / 16.0, digits.target[order]
    test_images, test_labels = images[:TEST_IMAGES], labels[:TEST_IMAGES]
    train_images, train_labels = images[TEST_IMAGES:], labels[TEST_IMAGES:]

    parameters = train(initial_parameters(rng), train_images, train_labels, rng)
    quantized = quantize(parameters, forward(parameters, train_images))

    float_classes = np.argmax(forward(parameters, test_images).logits, axis=1)
    print(f"float: {np.mean(float_classes == test_labels):7.2%} of {TEST_IMAGES} test images")
    print(f"int8:  {np.mean(predict(quantized, test_images) == test_labels):7.2%}")

    model = to_tflite(quantized)
    (folder / "digits.tflite").write_bytes(model)
    inputs = quantized.image.quantize(test_images)
    np.savez_compressed(folder / "digits_test.npz", inputs=inputs, labels=test_labels.astype(np.uint8))
    print(f"wrote digits.tflite ({len(model)} bytes) and digits_test.npz to {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
