"""What Recto's quality is on real data, beside real peers: `python -m evals --help`, docs/quality.md.

The commands are the modules `retrieval`, `answers`, `calibrate`, `compare` and `report`; measurements on public data
sets are in `research`. It measures what is deployed and changes nothing of it: the functions and the laptop stack
import nothing from here.
"""
