"""The HTTP surface: each route translates, makes one call, and translates back."""
