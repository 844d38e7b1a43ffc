"""What goes wrong in an evaluation, told to the person who started it."""


class EvalError(Exception):
    """The evaluation cannot be done as asked; the message says what to do about it."""


class DataError(EvalError):
    """A data folder is not in the expected form."""
