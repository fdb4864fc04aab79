"""Three comparisons of the batched verifiers with the exact engine; `run` makes all of them.

* `noise`: the same noise gives the same decision, on both sides of every threshold of the suite;
* `rounding`: the exact law of the rounded algorithm, its rates and rows read back as dyadic rationals;
* `large`: float32 against float64 at real vocabulary sizes.
"""
