"""Optimal values of verification as transport problems, one file a problem.

* `problem`, `certificate`: couple two laws for the largest integer reward, in floats and exactly;
* `block`: full information, whole drafts against whole target blocks;
* `single_step`, `resolution`: one node's drafts against one target token;
* `validity`: the linear program of one valid iteration, with a certified interval;
* `stateless`, `partial`: that program for a verifier that knows everything, or the drafted rows only.
"""
