"""P+: what a query's predicates imply about values and time, and what follows for its streams.

Deciding and planning both stand on this; it imports nothing but the intermediate forms.
"""
