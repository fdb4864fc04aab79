"""Studies over many instances: distance of verifiers from the optimum, and sweeps with their report.

* `gap` compares every verifier with both certified optima on one instance.
* `configuration` reads a sweep's TOML file and makes its families of instances.
* `plan` numbers the chunks, and says what is found of an instance and in which columns.
* `store` computes chunks in processes and saves each as a Parquet file, and `results`
  reads them.
* `report/` makes the page: `sections` of the results, `page` the document.
"""
