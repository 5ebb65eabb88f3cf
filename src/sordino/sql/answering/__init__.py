"""Answering: what a question costs, its exact numbers and bounds, their noise, and the table that is released."""
