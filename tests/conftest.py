"""What holds for every test."""

from hypothesis import settings

# A test never claims how fast the machine is. In CI, Hypothesis' own profile stays in force otherwise.
settings.register_profile("recto", settings(), deadline=None)
settings.load_profile("recto")
