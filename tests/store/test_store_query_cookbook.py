"""docs/sql.md: every query of the cookbook runs, and finds something in a bundle that has it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from analyzer.case import Options, analyze_case
from analyzer.engine.pack import load_packs
from analyzer.store.database import check_select

ROOT = Path(__file__).resolve().parent.parent.parent
QUERY = re.compile(r"^\*\*(?P<title>.+?)\*\*[^\n]*\n\n```sql\n(?P<sql>.*?)^```$", re.MULTILINE | re.DOTALL)


def queries() -> list[tuple[str, str]]:
    """The title and the SQL of each query of the cookbook."""
    page = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
    cookbook = page[page.index("## Cookbook") : page.index("## Tables")]
    found = [(one["title"], one["sql"]) for one in QUERY.finditer(cookbook)]
    assert len(found) == cookbook.count("```sql"), "a query without a title"
    return found


def harbor() -> dict[str, Any]:
    """What the sample lacks: a Service that nothing answers for, and a certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "quay.harbor.example")])
    start = datetime(2026, 1, 1, tzinfo=UTC)
    built = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(7)
    signed = built.not_valid_before(start).not_valid_after(start + timedelta(days=400)).sign(key, hashes.SHA256())
    pem = signed.public_bytes(serialization.Encoding.PEM).decode()

    def thing(version: str, kind: str, **rest: Any) -> dict[str, Any]:
        metadata = {"name": "quay", "namespace": "harbor", "uid": f"00000000-0000-4000-8000-{len(kind):012d}"}
        return {"apiVersion": version, "kind": kind, "metadata": metadata} | rest

    return {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            thing("v1", "Service", spec={"selector": {"app": "quay"}, "ports": [{"port": 80}]}),
            thing("v1", "Endpoints", subsets=[{"notReadyAddresses": [{"ip": "10.0.0.7"}], "ports": [{"port": 80}]}]),
            thing("v1", "ConfigMap", data={"tls.crt": pem}),
        ],
    }


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[duckdb.DuckDBPyConnection]]:
    """The sample, and a small folder with what it lacks and a file that is cut."""
    folder = tmp_path_factory.mktemp("cookbook")
    bundle = folder / "harbor"
    bundle.mkdir()
    (bundle / "all.json").write_text(json.dumps(harbor()), encoding="utf-8")
    (bundle / "cut.json").write_text(json.dumps(harbor())[:-200], encoding="utf-8")
    opened = []
    for number, path in enumerate((ROOT / "samples" / "gpu-cluster", bundle)):
        database = folder / f"{number}.duckdb"
        analyze_case([path], load_packs(), database, Options(jobs=1))
        opened.append(duckdb.connect(str(database), read_only=True))
    yield opened
    for con in opened:
        con.close()


def test_every_query_finds_something(databases: list[duckdb.DuckDBPyConnection]) -> None:
    found = queries()
    assert len(found) >= 15
    assert len({title for title, _ in found}) == len(found)
    empty = []
    for title, sql in found:
        check_select(databases[0], sql)
        if not any(con.execute(sql).fetchall() for con in databases):
            empty.append(title)
    assert empty == []
