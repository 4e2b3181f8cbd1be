"""The tables by subject, one module each; `analyzer.store.schema` puts them together."""
