"""What flows between the stages: frozen values with a canonical text form, and nothing else."""
