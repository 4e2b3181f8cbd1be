"""Signatures: lines of logs that rule packs want to see. Found in the parse workers while a log streams by."""

from analyzer.bundle.signatures.kept import Count, Hit
from analyzer.bundle.signatures.model import Signature
from analyzer.bundle.signatures.scan import LogScan, search
from analyzer.bundle.signatures.scanner import Scanner, compile_pattern

__all__ = ["Count", "Hit", "LogScan", "Scanner", "Signature", "compile_pattern", "search"]
