"""Attacks on tables, one file each."""
