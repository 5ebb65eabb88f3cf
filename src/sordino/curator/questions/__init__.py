"""What can be asked through a session: one file per workload."""
