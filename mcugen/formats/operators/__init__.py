"""Operators of several formats that expand to several operators of mcugen. Modules are found by their `IMPORTS`."""
