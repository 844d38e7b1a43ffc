"""The referee: what Recto's quality is on real data, beside real peers, printed by a command.

    python -m evals retrieval | chunking | scifact | rewrite | answers | calibrate | compare | report

It measures what is deployed and changes nothing of it: nothing here is imported by the functions or the laptop stack.
"""
