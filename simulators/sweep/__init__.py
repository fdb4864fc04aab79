"""Many instances: a described family, cut into pure chunks, computed anywhere, kept as Parquet.

A walk through: `configuration` reads the file, `families` makes instances of it, `plan` cuts the
work into chunks, `runners` computes them on processes or a cluster, `shard` makes Parquet of their rows,
`store` keeps it, `results` reads it again. A metric is one file in `metrics/`.
"""
