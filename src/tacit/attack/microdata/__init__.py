"""Attacks on releases of microdata, one file each."""
