"""How far verifiers are from what any verifier could reach.

* `measure`: one instance, every verifier and both certified optima; `table` shows it;
* `ensemble`: many instances, one thing varied, and its means; `plot` draws them;
* `worst`: the search for the instance with the largest gap;
* `commands`: the command `gap`.
"""
