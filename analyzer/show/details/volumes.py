"""PersistentVolumeClaims and PersistentVolumes: what was asked for, what there is, who uses it."""

from __future__ import annotations

import duckdb

from analyzer.facts.values import mapping, strings, text
from analyzer.show import podlist, words
from analyzer.show.model import Fact, Item, Section
from analyzer.show.subject import DetailsTable, Subject, one

_CLASS = ("storage.k8s.io", "StorageClass")


def claim(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The claim: size, class, volume."""
    spec, status = it.spec, it.status
    asked = mapping(mapping(spec.get("resources")).get("requests")).get("storage")
    has = mapping(status.get("capacity")).get("storage")
    facts: list[Item] = [
        Fact("Asks for", f"{words.short(asked or 'an unknown size', 40)}, {_modes(strings(spec.get('accessModes')))}"),
        Fact("Has", words.short(has, 40) if has else "nothing yet, by its status"),
        _storage_class(con, spec.get("storageClassName")),
    ]
    volume = text(spec.get("volumeName"))
    if volume:
        there = one(con, "SELECT 1 FROM objects WHERE api_group = '' AND kind = 'PersistentVolume' AND name = ?", volume)
        facts.append(Fact("Volume", f"{words.short(volume, 200)}{'' if there else ' (not in this bundle)'}"))
    else:
        facts.append(Fact("Volume", "none bound yet"))
    return Section("Claim", tuple(facts))


def _storage_class(con: duckdb.DuckDBPyConnection, name: object) -> Fact:
    if name is None:
        return Fact("Class", "not set: the cluster's default")
    if not text(name):
        return Fact("Class", "none: only a volume without a class fits")
    row = one(
        con,
        "SELECT json_extract_string(json, ['$.provisioner', '$.volumeBindingMode']) AS says FROM objects "
        "WHERE api_group = ? AND kind = ? AND name = ?",
        *_CLASS,
        name,
    )
    shown = words.short(name, 120)
    if row:
        provisioner, mode = row["says"]
        binds = f", binds {words.quoted(mode, 60)}" if mode else ""
        return Fact("Class", f"{shown}, provisioner {words.quoted(provisioner or 'unknown', 120)}{binds}")
    status = one(con, "SELECT status FROM coverage WHERE api_group = ? AND kind = ?", *_CLASS)
    if status and status["status"] in ("complete", "absent"):
        return Fact("Class", f"{shown}, which does not exist", "warning")
    return Fact("Class", f"{shown} (cannot tell whether it exists: not collected)")


def users(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The pods that use the claim."""
    return podlist.related(con, it, "Used by", "pvc", out=True)


def volume(con: duckdb.DuckDBPyConnection, it: Subject) -> Section:
    """The volume: size, class, whose it is, what is behind it."""
    spec = it.spec
    size = mapping(spec.get("capacity")).get("storage")
    facts: list[Item] = [
        Fact("Size", f"{words.short(size or 'unknown', 40)}, {_modes(strings(spec.get('accessModes')))}"),
        _storage_class(con, spec.get("storageClassName")),
    ]
    ref = mapping(spec.get("claimRef"))
    if ref:
        named = words.thing("", "PersistentVolumeClaim", str(ref.get("namespace") or ""), str(ref.get("name") or ""))
        facts.append(Fact("Claimed by", words.short(named, 300)))
    driver = text(mapping(spec.get("csi")).get("driver"))
    if driver:
        facts.append(Fact("Driver", words.quoted(driver, 120)))
    policy = text(spec.get("persistentVolumeReclaimPolicy"))
    if policy:
        facts.append(Fact("When released", words.quoted(policy, 40)))
    return Section("Volume", tuple(facts))


def _modes(modes: list[str]) -> str:
    return words.some([words.short(mode, 40) for mode in modes]) or "no access mode said"


DETAILS: DetailsTable = {("", "PersistentVolumeClaim"): (claim, users), ("", "PersistentVolume"): (volume,)}
