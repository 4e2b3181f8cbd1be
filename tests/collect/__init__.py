"""Tests of `triage collect`: the real client against a real server."""
