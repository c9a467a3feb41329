"""Secondary suppression, one method per file."""
