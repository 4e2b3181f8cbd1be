"""bundle-triage: an offline analyzer of Kubernetes diagnostics bundles."""

__version__ = "0.1.0"
