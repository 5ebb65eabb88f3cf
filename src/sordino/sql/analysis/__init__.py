"""Bounds on what one row can change: patterns, residual and elastic sensitivity."""
