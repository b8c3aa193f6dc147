"""Text files of LightGBM."""
