"""What may be shown: every claim and quote is checked against the stored text."""
