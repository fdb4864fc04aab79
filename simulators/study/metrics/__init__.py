"""The metrics of a sweep, one file each; `proofs_check` adds another."""
