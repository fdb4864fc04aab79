"""Optimal values of verification as transport problems, one file a problem.

* `problem`, `certificate`, `rebuild`: couple two laws for the largest integer reward, in floats and exactly;
* `block`: full information, whole drafts against whole target blocks;
* `single_step`, `selection`, `resolution`: one node's drafts against one target token, and optimal rules;
* `program`, `bounds`, `plan`, `validity`: the linear program of one valid iteration, a certified interval
  for its value, and a rule that is valid exactly;
* `stateless`, `partial`: that program for a verifier that knows every row, or the drafted ones only;
  `symmetry` merges what an exchange of tokens does not change;
* `flow`, `level`: a whole level of a drafted tree planned together, by flows of the largest gain.
"""
