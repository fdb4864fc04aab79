"""The stand-ins are executed by studies, not imported by pytest."""

collect_ignore_glob = ["*_like.py"]
