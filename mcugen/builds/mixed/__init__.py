"""Mixed precision: bits per layer, chosen by their cost on the board and by the accuracy that they lose."""
