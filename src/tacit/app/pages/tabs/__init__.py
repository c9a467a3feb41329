"""The tabs of a project's page, one module each with one function ``show``."""
