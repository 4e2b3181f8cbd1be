"""Pieces of SQL that several facts use."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from analyzer import times


def moment(expression: str) -> str:
    """SQL that reads a text as a time with a zone and gives a TIMESTAMP in UTC; NULL where it is no such time.

    Kubernetes writes RFC 3339. A text without a zone is no moment, and DuckDB's special words (`infinity`, `epoch`)
    are none either, nor is what lies outside of the times that `analyzer.times` reads.
    """
    return (
        rf"CASE WHEN regexp_matches({expression}, '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[Tt].*([Zz]|[+-][0-9]{{2}}:?[0-9]{{2}})$') "
        f"AND epoch_us(try_cast({expression} AS TIMESTAMPTZ)) BETWEEN {_micros(times.EARLIEST)} AND {_micros(times.LATEST)} "
        f"THEN make_timestamp(epoch_us(try_cast({expression} AS TIMESTAMPTZ))) END"
    )


def _micros(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
