"""Tests of the commands, run as their users run them."""
