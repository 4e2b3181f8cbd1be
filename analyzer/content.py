"""Where the content that is no code lies: rules/ and reports/.

In a wheel it lies beside this file, in a checkout in the parent folder (known by our own pyproject.toml). Nowhere
else is looked, so that no stray folder of that name is ever taken for ours.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder `rules` or `reports`.

    Raises:
        FileNotFoundError: the installation is broken and has no such folder.
    """
    beside = _HERE / name
    if beside.is_dir():
        return beside
    project = _HERE.parent / "pyproject.toml"
    if project.is_file() and 'name = "bundle-triage"' in project.read_text(encoding="utf-8"):
        checkout = _HERE.parent / name
        if checkout.is_dir():
            return checkout
    raise FileNotFoundError(f"this installation of bundle-triage has no {name}/ folder")
