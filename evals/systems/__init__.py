"""The systems that are compared, behind one thin interface, and how to get one by its name."""

from evals.systems.base import Found, Ingested, System, SystemContext
from evals.systems.catalogue import SYSTEMS, open_system

__all__ = ["SYSTEMS", "Found", "Ingested", "System", "SystemContext", "open_system"]
