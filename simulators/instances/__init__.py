"""Sources of instances: files, named scenarios, exhaustive grids, random rows, real text.

A family is a sequence of instances, each made when it is accessed, so that any worker can make any
part: it has a `name`, a length, and `family[i]`.
"""
