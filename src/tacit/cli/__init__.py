"""The command line: one file per command, drawn with rich, or one JSON document with ``--json``."""
