"""From what was typed to what is searched for: language, follow-ups, the tenant's glossary."""
