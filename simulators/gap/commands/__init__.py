"""The command `gap`, and one file for each thing it does: with an instance, without one, --vary, --worst."""
