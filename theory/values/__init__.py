"""What rules accept, and how they are computed at scale: sums over prefixes and over classes of tokens."""
