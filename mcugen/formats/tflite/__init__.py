"""TensorFlow Lite: reading, writing, and operators that expand to several."""
