"""The mathematics, free of input, output and randomness.

At the door is the nucleus: `rows` (operations on probability rows), `numbers`, `errors`, `oracle` (answers
choices), `table` (a model as rows by prefix), `draft`, `instance`, `law`, `emission`, `verifier`. Come to

* `drafts/` to change how the small model proposes tokens, or the words that name a draft (`chain:4`);
* `verifiers/` to add or change a verification rule, one file each;
* `selection/` for rules that choose which drafted tokens of a batch are verified;
* `keys/` for coins that are functions of a key and of the last tokens, one scheme a file;
* `targets/` for laws other than p that a rule is judged against, and for processors such as top-k;
* `values/` for what rules accept, `transport/` for optima and their certificates;
* `shared/` for mathematics that several of these use.
"""
