"""Graded assignments: `make assignments` writes what students get, `make grade` grades what they hand in.

Three kinds of program take part, and only the last one runs students' code.

- `release` and `gradebook` drive nbgrader on the sources, which hold the solutions.
- `collect` and `checks` read submissions as data, and refuse by name what cannot be graded.
- `run` starts `execute` for one submission at a time, in a temporary folder, under `limits` and in whatever
  sandbox `isolation` finds. It gets the cells of the submission and a copy of rnnlib, and hands back outputs.
"""
