"""The commands, one file each, and what they share: `entry` and `options`."""
