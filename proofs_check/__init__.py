"""Symbolic proofs for all p and q: the same verifiers on rational functions. Come to

* `cells/` for proofs at one size: the regions of p and q in which the code takes the same branches;
* `every_size/` for proofs by induction over the verifier's own code, at every vocabulary and depth;
* `claims/` for the registry of the field's theorems, `rocq/` for those that Rocq proves;
* `commands/` for `draftproof prove` and `draftproof claims`.
"""
