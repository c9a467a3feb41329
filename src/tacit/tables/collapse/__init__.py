"""Redesign: fewer categories in place of suppressed cells."""
