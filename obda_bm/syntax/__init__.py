"""Texts of queries -> what they say."""
