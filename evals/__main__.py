"""`python -m evals`."""

import sys

from evals.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
