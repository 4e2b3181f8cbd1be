"""Lines of PCIe ports: which GPU they are given to."""

from __future__ import annotations

from analyzer.facts.gpu import xid_codes, xid_pcie
from analyzer.facts.gpu.log_hosts import Where
from analyzer.facts.gpu.xid_lines import Front, Words
from analyzer.facts.gpu.xid_read import Event


def _event(log_id: int, where: Where, pci: str, port: str | None = None) -> Event:
    return Event(
        log_id=log_id,
        line=1,
        at=None,
        front=Front(),
        words=Words(""),
        where=where,
        source="pcie" if port else "kernel",
        code=None if port else 48,
        switch=False,
        meaning=xid_codes.of_gpu(48),
        text="",
        pci=pci,
        uuid=None,
        boot=None,
        section=0,
        port=port,
    )


def test_an_address_counts_on_its_node_whichever_log_told_it() -> None:
    by_pod = Where(7, "node-a", None, "the log is of a pod on that node")
    by_host = Where(7, "node-a", "node-a", "the log names the host")
    told = _event(1, by_pod, "0000:1b:00")
    port = _event(2, by_host, "0000:1b:00", port="0000:3a:00")
    assert xid_pcie.settled([told, port], {}, {}) == [told, port]


def test_an_address_of_another_node_or_of_none_is_no_matter_of_gpus() -> None:
    told = [_event(1, Where(7, "node-a"), "0000:1b:00"), _event(2, Where(host="far"), "0000:1b:00")]
    ports = [_event(3, Where(8, "node-b"), "0000:1b:00", port="0000:3a:00"), _event(4, Where(), "0000:1b:00", port="0000:3a:00")]
    assert xid_pcie.settled([*told, *ports], {}, {}) == told
