"""Queries that run once, over the data as it is: on DuckDB or PostgreSQL."""
