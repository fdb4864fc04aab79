"""What a sweep can measure, one file a metric; `proofs_check` brings its own."""
