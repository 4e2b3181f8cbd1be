"""YAML and JSON files into Kubernetes objects, with the place of each and with whatever a damaged file still holds."""

from __future__ import annotations

from analyzer.bundle.documents.reader import read_documents

__all__ = ["read_documents"]
