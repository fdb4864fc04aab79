"""What is measured, one file a metric. Proofs bring their own, from the room they live in."""
