"""What `draftproof gpu bench` measures: the verifiers at real vocabulary sizes, side by side in one run."""
