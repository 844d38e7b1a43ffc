"""`python -m local`: see `local.cli`."""

import sys

if __name__ == "__main__":
    try:
        from local.cli import ready

        run = ready()  # here, because loading takes seconds in which Ctrl-C may come as well
    except KeyboardInterrupt:
        sys.exit(130)
    except (ModuleNotFoundError, SyntaxError) as error:
        if sys.prefix.endswith(".venv"):
            raise
        how = "run `make setup`, and then `.venv/bin/python -m local …`"
        sys.exit(f"{sys.executable} is not the Python that Recto is installed in ({error}): {how}.")
    sys.exit(run())
