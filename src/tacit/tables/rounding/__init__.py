"""Rounding, one method per file."""
