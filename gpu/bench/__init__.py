"""What `draftproof gpu bench` measures: decoding with real models."""
