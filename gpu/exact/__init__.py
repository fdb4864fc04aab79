"""Three ties between the batched verifiers and the exact engine.

* `noise`: the same noise gives the same decision, on both sides of every threshold of the suite;
* `law`: the exact law of the rounded algorithm, its rates and rows read back as dyadic rationals;
* `large`: float32 against float64 at real vocabulary sizes.
"""
