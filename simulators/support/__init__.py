"""What is not about verification: files, loading of code, sources of a function, process pools, figures."""
