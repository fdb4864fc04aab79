"""The stand-ins are executed by adapters, not imported by pytest."""

collect_ignore_glob = ["*_like.py"]
