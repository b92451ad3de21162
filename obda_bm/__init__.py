"""Decide whether a semantic query over streams runs in bounded memory, prove it, and run it."""
