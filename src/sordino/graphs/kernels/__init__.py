"""Compiled loops over compressed sparse rows, and the threads that run them."""
