"""Mixed precision: bit widths per layer, chosen by their cost on the board and the accuracy they lose."""
