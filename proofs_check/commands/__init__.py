"""The commands `prove` and `claims`, one file each."""
