"""ONNX: reading, writing, and operators that become several."""
