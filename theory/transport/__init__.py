"""Optimal values of verification as transport problems.

* `certificate`: couples two laws for the largest integer reward, in floats and exactly; `flow`: exact flows;
* `block`: full information, whole drafts against whole target blocks;
* `siblings`, `single_step`, `resolution`: one node's drafts against one target token, and optimal rules;
* `bounds`: the stateless optimum, a program with a certified interval for its value;
* `level`: plans for a whole level of a drafted tree.
"""
