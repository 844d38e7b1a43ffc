"""The referee: what Recto's quality is on real data, beside real peers, printed by a command.

    python -m evals retrieval | documents | answers | calibrate | chunking | extractive | scifact | rewrite
    python -m evals compare | report

It measures what is deployed and changes nothing of it: nothing here is imported by the functions or the laptop stack.
"""
