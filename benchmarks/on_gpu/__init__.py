"""Everything that is required of a GPU, measured by one command: `python -m benchmarks.on_gpu`."""
