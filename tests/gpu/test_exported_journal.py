"""Words of the kernel in what `journalctl -o export` wrote: host and time stand on the lines beside the message."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.facts.build import database

AT = datetime(2026, 11, 1, 12, tzinfo=UTC).replace(tzinfo=None)
GPU_NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "forge-1", "labels": {"nvidia.com/gpu.present": "true"}},
    "status": {"capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "8"}},
}


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        ("gpu/nic-fault", "mlx5_core 0000:42:00.0: Port module event[error]: module 0, Cable error, High Temperature"),
        ("gpu/driver-api-mismatch", "NVRM: API mismatch: the client has the version 550.54.15, but this kernel module 535.1"),
    ],
)
def test_host_and_time_of_an_exported_message(signature: str, words: str) -> None:
    text = f"__REALTIME_TIMESTAMP=1793530800000000\n_HOSTNAME=forge-1\nMESSAGE={words}\n_TRANSPORT=kernel\n"
    con = database([GPU_NODE], logs=[{"namespace": "", "pod": "", "container": "", "source": "service", "text": text}])
    told = con.execute("SELECT signature, node, w.at FROM gpu_words w").fetchall()
    assert told == [(signature, "forge-1", AT - timedelta(hours=1))]
