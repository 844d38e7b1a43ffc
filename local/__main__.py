"""`python -m local`: see `local.cli`."""

import sys

if __name__ == "__main__":
    try:
        from local.cli import main  # here, because loading takes seconds in which Ctrl-C may come as well
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(main())
