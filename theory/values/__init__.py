"""E[tau] in closed form: sums over prefixes instead of an enumeration of drafts and decisions.

* `chains`: rules that verify a whole path, or the best-ranked of K paths;
* `lifts`: rules that verify from leaf to root: a subtree's probability of ending the walk is its entry rate.

Each form is exact and equals the enumeration of one iteration with `==`. Rules that go down node by node need
none: `draftproof.simulators.laws.nodes` runs them one node at a time.
"""
