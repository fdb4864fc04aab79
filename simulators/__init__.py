"""Runs the algorithms of `theory`. Come to

* `laws/` to enumerate, sample or decode: laws, verdicts, witnesses, `check`;
* `instances/` for sources of instances: files, scenarios, grids, random rows, text, the standard suite;
* `audit/` to judge somebody else's code;
* `study/` for many instances: gaps, worst cases, sweeps and their report;
* `endpoint/` to test a running server;
* `commands/` for the command line, `support/` for files, loading, process pools and figures.

At the door: `api` (the public functions), `user_code` (a verifier by name or file), `screen` (what commands
print) and `pytest_plugin`.
"""
