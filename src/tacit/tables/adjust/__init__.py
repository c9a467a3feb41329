"""Controlled adjustment, one method per file."""
