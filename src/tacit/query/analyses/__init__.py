"""Statistics that may be asked, one per file."""
