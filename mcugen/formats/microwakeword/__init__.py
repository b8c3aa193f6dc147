"""Descriptions of wake words, as ESPHome has them."""
