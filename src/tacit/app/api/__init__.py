"""The REST interface: one module per noun, all under ``/api/v1``."""
