"""What the rules found."""

from __future__ import annotations

from analyzer.store.tables.base import Table, table

TABLES: tuple[Table, ...] = (
    table(
        "findings",
        "result",
        "What the rules found, as in report.json.",
        """
id VARCHAR stable id
code VARCHAR rule code
severity VARCHAR error, warning or info
object_id BIGINT the object, null where it is none of the bundle's
api_group VARCHAR its API group
kind VARCHAR its kind
namespace VARCHAR its namespace
name VARCHAR its name
title VARCHAR title
message VARCHAR message
since TIMESTAMP since when
owner VARCHAR who can act
waiting VARCHAR does waiting help
basis VARCHAR observed or deduced
count INTEGER how many it folds together
incident VARCHAR the incident it belongs to
explained_by VARCHAR id of the finding that explains it, null where none does
json JSON the finding as in report.json
""",
    ),
    table(
        "incidents",
        "result",
        "Findings joined by cause, most important first.",
        """
rank INTEGER from 1
id VARCHAR stable id
title VARCHAR title
root VARCHAR id of the finding that explains the others
entry INTEGER the number under which the reports tell it; of many incidents that are alike one number
json JSON the incident as in report.json
""",
    ),
    table(
        "not_evaluated",
        "result",
        "Rules that could not be evaluated, and why.",
        """
code VARCHAR rule code, or DOMAIN/*
reason VARCHAR why
needs VARCHAR[] what is missing
ask VARCHAR[] commands that collect it
""",
    ),
    table(
        "meta",
        "result",
        "About this database.",
        """
key VARCHAR tool-version, schema, rules-digest, …
value VARCHAR its value
""",
    ),
)
