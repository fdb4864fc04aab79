"""What several verifiers share: the plan of the priority rule, and targets that change with what was drafted."""
