"""ONNX: reading, writing, and operators that expand to several."""
