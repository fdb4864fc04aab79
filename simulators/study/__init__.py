"""The study of many instances: how far verifiers are from the optimum, and sweeps with their report.

* `gap` is one instance, every verifier beside both certified optima, and means over instances;
  `ensembles` varies one setting and draws the figure; `worst` searches for the largest gap.
* `configuration` reads a sweep's TOML file, `families` makes its instances and cuts them into slices.
* `plan` numbers the chunks and holds the columns they share; a metric is one file in `metrics/`.
* `runners` compute chunks on processes or a cluster; `store` keeps each as a Parquet file, and `results`
  reads them back.
* `report/` makes the page: `sections` of results, `explorer` of small instances.
"""
