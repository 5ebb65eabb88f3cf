"""Graphs under edge privacy: one edge added or removed between existing nodes; the node set is public."""
