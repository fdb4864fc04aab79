"""The commands, one file each; `entry` and `options` are shared by all."""
