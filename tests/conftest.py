"""What holds for every test."""

from hypothesis import settings

# A test's claim is never how fast this machine is at the moment. In CI, Hypothesis' own profile stays in force otherwise.
settings.register_profile("recto", settings(), deadline=None)
settings.load_profile("recto")
