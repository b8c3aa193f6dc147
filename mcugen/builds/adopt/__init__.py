"""Firmware of TensorFlow Lite Micro, switched to compiled models by a patch of its repository."""
