"""Which tuple goes: one policy, or family of policies, per file."""
