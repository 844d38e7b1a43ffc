"""What both functions need, and nothing else."""
