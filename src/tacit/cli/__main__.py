"""Run the command line with ``python -m tacit.cli``."""

from tacit.cli.main import main

if __name__ == "__main__":
    main()
