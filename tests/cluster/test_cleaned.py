"""A must-gather that was cleaned: what was taken out is neither absent nor just missing, and no original comes back."""

from __future__ import annotations

from pathlib import Path

from analyzer import redact
from analyzer.bundle.read import read_bundle
from analyzer.facts import coverage
from analyzer.store import database
from analyzer.store.load import load
from analyzer.store.schema import BY_NAME

REPORT = """\
replacements:
- - canonical: 192.0.2.77
    replacedWith: x-ipv4-0000000001-x
    occurrences:
    - original: 192.0.2.77
omissions:
- cluster-scoped-resources/certificates.k8s.io/certificatesigningrequests/csr-1.yaml
- namespaces/dock/core/secrets.yaml
config: {}
"""


def test_what_the_sanitiser_took_out_is_removed(tmp_path: Path) -> None:
    root = tmp_path / "cleaned"
    (root / "namespaces" / "dock" / "core").mkdir(parents=True)
    (root / "cluster-scoped-resources").mkdir()
    (root / "namespaces" / "dock" / "dock.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: dock}\n")
    (root / "version").write_text("openshift/must-gather\n4.20.4\n")
    (root / "report.yaml").write_text(REPORT)
    work = tmp_path / "work"
    work.mkdir()
    redact.configure(b"k" * 32)
    parts = read_bundle([root], work, 1)
    con = database.open_memory(work)
    try:
        load(con, parts)
        con.execute(BY_NAME["coverage"].ddl())
        coverage.derive(con, [("certificates.k8s.io", "CertificateSigningRequest"), ("", "ConfigMap")])
        rows = dict(con.execute("SELECT kind, status FROM coverage").fetchall())
        stored = con.execute("SELECT json FROM documents WHERE role = 'clean-report'").fetchall()
    finally:
        con.close()
    assert (rows["CertificateSigningRequest"], rows["Secret"], rows["ConfigMap"]) == ("removed", "removed", "not-collected")
    assert len(stored) == 1
    assert "192.0.2.77" not in stored[0][0]
