"""`python -m local`: see `local.cli`."""

import sys

from local.cli import main

if __name__ == "__main__":
    sys.exit(main())
