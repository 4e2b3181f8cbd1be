"""X.509 certificates in a bundle: whose they are, and when they are valid.

Read are what collectors keep: `status.certificate` of certificate requests, CA bundles of ConfigMaps, the public parts of
Secrets, and the CA bundles by which the API server trusts webhooks, aggregated APIs and converters. Private keys are never
there: they are masked before loading. A store of public roots (more than 20 certificates) is no part of the cluster.
"""

from __future__ import annotations

import base64
import binascii
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import duckdb
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes

from analyzer.facts.rows import insert_rows
from analyzer.facts.values import one_line

MAX_VALUE = 100_000
"""Longest field, in characters, that is read: more than 20 certificates and their comments fit."""
MAX_IN_FIELD = 20
"""More certificates in one field are a store of public roots."""
MAX_FIELDS = 50_000
"""How many fields of a bundle are read; more are left out."""
MAX_NAME = 200

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]{1,20000}-----END CERTIFICATE-----")
_NAMES = r"'(^|[._-])(crt|cer|cert|pem|ca|ca-?bundle|bundle|chain)$'"

# Fields that may hold certificates: object, its input, the path, the value, whether it is base64, and what it is for.
_FIELDS = f"""
WITH maps AS (
    SELECT object_id, input, kind, unnest(map_entries(try_cast(json -> '$.data' AS MAP(VARCHAR, VARCHAR)))) AS entry
    FROM objects
    WHERE api_group = '' AND ((kind = 'ConfigMap' AND contains(json::VARCHAR, '-----BEGIN CERTIFICATE-----'))
        OR (kind = 'Secret' AND contains(json::VARCHAR, '"LS0tLS1CRUdJTi')))
), hooks AS (
    SELECT object_id, input, unnest(json_extract_string(json, '$.webhooks[*].clientConfig.caBundle')) AS value,
        generate_subscripts(json_extract_string(json, '$.webhooks[*].clientConfig.caBundle'), 1) - 1 AS idx
    FROM objects WHERE kind IN ('ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration')
)
SELECT object_id, input, 'data["' || entry.key || '"]' AS path, entry.value AS value, kind = 'Secret' AS packed,
    CASE WHEN entry.key LIKE 'tls%' THEN 'own' ELSE 'trust' END AS role
FROM maps WHERE length(entry.value) <= {MAX_VALUE} AND regexp_matches(lower(entry.key), {_NAMES})
UNION ALL
SELECT object_id, input, 'status.certificate', json_extract_string(json, '$.status.certificate'), true, 'own'
FROM objects WHERE api_group = 'certificates.k8s.io' AND kind = 'CertificateSigningRequest'
UNION ALL
SELECT object_id, input, 'webhooks[' || idx || '].clientConfig.caBundle', value, true, 'trust' FROM hooks
UNION ALL
SELECT object_id, input, 'spec.caBundle', json_extract_string(json, '$.spec.caBundle'), true, 'trust'
FROM objects WHERE api_group = 'apiregistration.k8s.io' AND kind = 'APIService'
UNION ALL
SELECT object_id, input, 'spec.conversion.webhook.clientConfig.caBundle',
    json_extract_string(json, '$.spec.conversion.webhook.clientConfig.caBundle'), true, 'trust'
FROM objects WHERE api_group = 'apiextensions.k8s.io' AND kind = 'CustomResourceDefinition'
    AND contains(json::VARCHAR, '"caBundle"')
"""  # noqa: S608 - SQL of our own, no value of a bundle

# Where none of these kinds is, planning the query above takes longer than anything else here.
_ANY = """
SELECT 1 FROM objects WHERE kind IN ('ConfigMap', 'Secret', 'ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration',
    'CertificateSigningRequest', 'APIService', 'CustomResourceDefinition') LIMIT 1
"""

# OpenShift notes the end on each Secret that it renews itself; kubelets ask the built-in signers again in time.
_RENEWAL = """
WITH holders AS MATERIALIZED (
    SELECT object_id, api_group, kind, namespace, name, created_at,
        json_extract_string(json, '$.metadata.annotations."auth.openshift.io/certificate-not-after"') IS NOT NULL AS noted
    FROM objects SEMI JOIN certificates USING (object_id)
), requests AS MATERIALIZED (
    SELECT object_id, created_at, json_extract_string(json, '$.spec.username') AS requester,
        coalesce(json_extract_string(json, '$.spec.signerName'), '') AS signer
    FROM objects WHERE api_group = 'certificates.k8s.io' AND kind = 'CertificateSigningRequest'
), newest AS (
    SELECT requester, signer, max(created_at) AS created_at FROM requests GROUP BY ALL
), known AS (
    SELECT h.object_id, h.noted OR coalesce(r.signer LIKE 'kubernetes.io/%', false) AS renewed,
        coalesce(n.created_at > r.created_at, false) OR b.object_id IS NOT NULL AS replaced
    FROM holders AS h
    LEFT JOIN requests AS r USING (object_id)
    LEFT JOIN newest AS n ON n.requester = r.requester AND n.signer = r.signer
    LEFT JOIN objects AS b ON regexp_matches(h.name, '-[0-9]+$') AND b.name = regexp_replace(h.name, '-[0-9]+$', '')
        AND b.api_group = h.api_group AND b.kind = h.kind AND b.namespace = h.namespace
), copies AS (
    SELECT c.fingerprint, bool_or(k.renewed) AS renewed FROM certificates AS c JOIN known AS k USING (object_id) GROUP BY ALL
)
UPDATE certificates SET replaced = k.replaced, short = p.renewed OR not_after - not_before <= INTERVAL 14 DAY
FROM known AS k, copies AS p WHERE k.object_id = certificates.object_id AND p.fingerprint = certificates.fingerprint
"""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What matters of one certificate; times are naive UTC."""

    subject: str
    issuer: str
    fingerprint: str
    authority: bool
    not_before: datetime
    not_after: datetime


def derive(con: duckdb.DuckDBPyConnection) -> None:
    """Fills `certificates`."""
    if con.execute(_ANY).fetchone() is not None and insert_rows(con, "certificates", _rows(con)):
        con.execute(_RENEWAL)


def _rows(con: duckdb.DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    fields = con.execute(
        f"SELECT * FROM ({_FIELDS}) WHERE value IS NOT NULL AND value <> '' AND length(value) <= {MAX_VALUE} "  # noqa: S608
        f"ORDER BY object_id, path LIMIT {MAX_FIELDS}"
    ).fetchall()
    for object_id, origin, path, value, packed, role in fields:
        found = read(value, packed=packed)
        if len(found) > MAX_IN_FIELD:
            continue
        for idx, one in enumerate(found):
            yield {
                "object_id": object_id,
                "input": origin,
                "path": path,
                "idx": idx,
                "role": role,
                "subject": one.subject,
                "issuer": one.issuer,
                "fingerprint": one.fingerprint,
                "authority": one.authority,
                "not_before": one.not_before,
                "not_after": one.not_after,
            }


@lru_cache(maxsize=4_096)
def read(value: str, *, packed: bool) -> tuple[Certificate, ...]:
    """The certificates of a PEM text, in order; what is none, or cannot be read, is left out.

    Args:
        value: the text.
        packed: it is base64 of that text.
    """
    if packed:
        try:
            value = base64.b64decode(value, validate=False).decode("ascii", "replace")
        except (binascii.Error, ValueError):
            return ()
    blocks = [match[0] for match, _ in zip(_PEM.finditer(value), range(MAX_IN_FIELD + 1), strict=False)]
    return tuple(one for one in map(_certificate, blocks) if one is not None)


@lru_cache(maxsize=16_384)
def _certificate(block: str) -> Certificate | None:
    try:
        with warnings.catch_warnings():
            # Old serial numbers and the like: nothing that a reader of a bundle can act on.
            warnings.simplefilter("ignore")
            loaded = x509.load_pem_x509_certificate(block.encode())
            return Certificate(
                _name(loaded.subject),
                _name(loaded.issuer),
                loaded.fingerprint(hashes.SHA256()).hex(),
                _is_authority(loaded),
                loaded.not_valid_before_utc.astimezone(UTC).replace(tzinfo=None),
                loaded.not_valid_after_utc.astimezone(UTC).replace(tzinfo=None),
            )
    except (ValueError, TypeError, OverflowError, UnsupportedAlgorithm):
        return None


def _name(name: x509.Name) -> str:
    """The common name where there is one, else the whole name."""
    common = name.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return one_line(str(common[0].value) if common else name.rfc4514_string(), MAX_NAME) or "without a name"


def _is_authority(loaded: x509.Certificate) -> bool:
    try:
        return loaded.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except (x509.ExtensionNotFound, x509.DuplicateExtension, ValueError):
        return False
