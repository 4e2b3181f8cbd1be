"""Tests of the facts about the cluster."""
