"""Verdicts of other kinds: against a declared target, on a batch of requests, over keys."""
