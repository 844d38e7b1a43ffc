"""Measures Recto's quality on real data, beside other systems: `python -m evals --help`, docs/measuring.md.

Each command is a module, for example `retrieval`, `answers` and `calibrate`; measurements on public data sets are in
`research`. It measures the deployed code and does not change it: the functions and the laptop stack import nothing from
here.
"""
