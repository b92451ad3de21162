"""Running a plan: when timestamps close, where rows come from, where results go."""
