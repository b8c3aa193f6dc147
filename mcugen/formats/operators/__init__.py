"""Operators of formats that become several of mcugen's: one module each, found by their `IMPORTS`."""
