"""`python -m analyzer` is `triage`."""

from analyzer.cli import main

if __name__ == "__main__":
    main()
