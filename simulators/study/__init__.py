"""The study of many instances: how far verifiers are from the optimum, and sweeps with their report.

The command `gap` (`gap_command`):

* `gap`: one instance, every verifier beside both certified optima, and means over instances;
* `ensembles`: means as one setting varies, and their figure; `worst`: the search for the largest gap.

The commands `sweep` and `report` (`sweep_command`, `report_command`):

* `configuration` reads the TOML file, `families` makes its instances and cuts them into slices;
* `plan` numbers the chunks; a metric is one file in `metrics/`; `runners` compute on processes or a cluster;
* `store` keeps each chunk as a Parquet file, whose columns are in `columns`; `results` reads them back;
* `report/` makes the page: `sections` of results, `explorer` of small instances.
"""
