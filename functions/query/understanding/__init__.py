"""Understanding: from what was typed to what is searched for, by language, follow-ups and the tenant's glossary."""
