"""TensorFlow Lite: reading, writing, and operators that become several."""
