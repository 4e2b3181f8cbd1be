"""The whole logs of a bundle: which ones are meant, reading them again, merging them by time, printing them masked."""
