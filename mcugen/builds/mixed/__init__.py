"""Mixed precision: which layers get how many bits, by what the board pays for them and by what accuracy they lose."""
