"""What `draftproof gpu bench` measures: verification from logits, and decoding with real models."""
