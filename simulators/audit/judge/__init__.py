"""From runs of a target to a verdict.

Come here if a verdict or its wording is wrong. `examine` carries out a whole audit; `exact` finds the law
on one instance and judges it, `batches` does so for a batch; `samples` tests random runs where nothing can
be enumerated; `edges` tries extreme coins; `replay` finds one run behind a wrong law, and the line of
Python that repeats it; `report` is what is printed.
"""
