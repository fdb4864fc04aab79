"""Comparisons of the batched verifiers with the exact engine; `run` makes all of them.

* `noise`: the same noise gives the same decision, on both sides of every threshold of the suite;
* `rounding`: how far rounding can move a rate or a draw;
* `large`: float32 against float64 at real vocabulary sizes.
"""
