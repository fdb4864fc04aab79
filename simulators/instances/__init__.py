"""Where instances come from: files, named scenarios, exhaustive grids, random rationals, real text.

A family is a sequence of instances that are made when asked for, so that any worker can make any
part of it: it has a `name`, a length, and `family[i]`.
"""
