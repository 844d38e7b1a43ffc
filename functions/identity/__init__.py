"""The trigger that gives a company's users their role and tenant."""
