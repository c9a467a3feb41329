"""The kinds of long work: one module each, with one function ``run(store, settings, job)``."""
