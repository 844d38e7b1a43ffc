"""The systems that are compared, behind one interface (`evals.systems.base`)."""
