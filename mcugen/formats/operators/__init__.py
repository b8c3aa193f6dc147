"""Operators of formats that expand to several of mcugen's: one module each, found by their `IMPORTS`."""
