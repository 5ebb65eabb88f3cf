"""Constraints: what is known of columns, in a small language of its own; files of it, and fields of policies."""
