"""Checks of the batched code: against the exact engine, against real models' own laws, and of a network's rows."""
