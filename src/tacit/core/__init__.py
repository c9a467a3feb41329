"""The core: data, schema, methods, plan, release. It knows no method by name."""
