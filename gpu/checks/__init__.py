"""Checks: batched code against the exact engine, decoding against the models' own laws, a network's rows."""
