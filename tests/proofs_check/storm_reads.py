"""Run by the Python that has stormpy: the probabilities with which states of a Markov chain reach labels.

Arguments: a model in Storm's DRN format, a JSON file [[states], [labels]], and "exact" or "functions" for
numbers that are rationals or rational functions of parameters. Prints {label: [value at each state]}; of
functions {label: [value at a state minus that at the next one]}, two by two.
"""

import json
import sys
from pathlib import Path

import stormpy

path, asked, numbers = sys.argv[1:]
kind = stormpy.Rational if numbers == "exact" else stormpy.RationalFunction
states, labels = json.loads(Path(asked).read_text())
model = stormpy.build_model_from_drn[kind](path)
found = {}
for label in labels:
    [formula] = stormpy.parse_properties(f'P=? [F "{label}"]')
    result = stormpy.model_checking(model, formula)
    values = [result.get_value(state) for state in states]
    if numbers == "functions":  # which have several spellings: of each pair the difference
        values = [a - b for a, b in zip(values[::2], values[1::2], strict=True)]
    found[label] = list(map(str, values))
print(json.dumps(found))
