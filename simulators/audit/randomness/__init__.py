"""Random functions answered by choices: coins, generators, torch's and Triton's own functions."""
