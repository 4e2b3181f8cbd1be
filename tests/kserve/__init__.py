"""Tests of the facts of KServe."""
