"""The frozen result as report.html, report.md, report.json and a summary on the terminal."""
