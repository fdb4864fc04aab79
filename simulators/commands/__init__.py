"""The commands `check` and `law`, one file each, and what all commands share: entry, options."""
