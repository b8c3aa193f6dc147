"""Models on samples with labels: how often they are right, and how fast."""
