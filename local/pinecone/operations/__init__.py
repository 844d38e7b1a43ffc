"""One file per operation family: the fields it takes, its rules, the answer it gives, in the vendor's words."""
