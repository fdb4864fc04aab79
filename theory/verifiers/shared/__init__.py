"""What several verifiers share: the priority rule's plan, and targets that change with what was drafted."""
