"""Tests of `triage show`."""
