"""Perturbation of cells, one method per file."""
