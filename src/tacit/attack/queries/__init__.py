"""Attacks on query servers, one file each."""
