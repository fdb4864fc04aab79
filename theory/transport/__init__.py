"""Transport problems: how the law of the drafts can be carried to the target."""
