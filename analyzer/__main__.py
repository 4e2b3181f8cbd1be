"""`python -m analyzer` is `triage`."""

from analyzer.entry import main

if __name__ == "__main__":
    main()
