"""Compilers, emulators and runtimes: compiling, running, counting and timing C."""
