"""Thousands of instances in one run: come here for the lanes and their exact numbers."""
