"""Rules of a policy, one per file."""
