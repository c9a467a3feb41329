"""Rules that find sensitive cells, one file each."""
