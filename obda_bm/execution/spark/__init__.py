"""Spark reads, replays and schedules; the kernel of the local engine does the rest."""
