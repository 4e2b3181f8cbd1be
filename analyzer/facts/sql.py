"""Pieces of SQL that several facts use."""

from __future__ import annotations


def moment(expression: str) -> str:
    """SQL that reads a text as a time with a zone and gives a TIMESTAMP in UTC; NULL where it is no such time.

    Kubernetes writes RFC 3339. A text without a zone is no moment, and DuckDB's special words (`infinity`, `epoch`)
    are none either.
    """
    return (
        rf"CASE WHEN regexp_matches({expression}, '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[Tt].*([Zz]|[+-][0-9]{{2}}:?[0-9]{{2}})$') "
        f"THEN make_timestamp(epoch_us(try_cast({expression} AS TIMESTAMPTZ))) END"
    )
