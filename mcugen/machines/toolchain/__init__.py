"""External programs: compilers, the emulator and the instruction counter. No other package starts a process."""
