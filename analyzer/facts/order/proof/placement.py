"""Planned, as far as accelerators decide: is there room, is anything large enough, could the search begin at all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from analyzer.facts.order.fleet import Device, Gpu
from analyzer.facts.order.proof.base import Proof
from analyzer.facts.order.proof.classes import absent
from analyzer.facts.order.shapes import Said
from analyzer.facts.order.sizes import needed_and_found
from analyzer.facts.order.world import Order, World
from analyzer.facts.values import mapping, mappings, text

_GAP = re.compile(
    r"(?:profile|профил)[^.;]{0,80}(?:incomplete|missing|unknown|absent|непол|отсутств|неизвест)"
    r"|(?:incomplete|missing|unknown|непол|отсутств|неизвест)[^.;]{0,40}(?:profile|профил)",
    re.IGNORECASE,
)
"""Words of a message that say that the memory profile of the hardware has a gap."""
_ROOM = re.compile(
    r"\bno (?:free |spare )?(?:room|capacity|device|accelerator|space)|nothing (?:is )?free|not enough|insufficient|\bbusy\b"
    r"|in use|occupied|\bfull\b|нет (?:свободн|места)|не хватает|недостаточно|занят|ничего не свободно",
    re.IGNORECASE,
)
_DOMAIN = re.compile(r"(?:attributes|capacity)\s*\[\s*[\"']([^\"']{1,200})[\"']\s*\]")
_MAX_CLASSES = 20
"""DeviceClasses of one order whose selectors are looked at."""
_QUOTE = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")


def no_room(world: World, order: Order, said: Said, proof: Proof) -> None:
    """NoCapacity and ResourceClaimExhausted: what is published, and who holds it."""
    del said
    room(world, order, proof)
    if order.replans:
        proof.note("replans", number=order.replans)


def room(world: World, order: Order, proof: Proof) -> None:
    """Whether every published device is held; which devices a class would take is not for us to say."""
    devices, gpus = world.fleet.of(order.input)
    away = world.fleet.unpublished.get(order.input, ())
    if not devices:
        if not world.fleet.slices_whole:
            proof.doubt("slices-not-collected")
        elif away or gpus:
            proof.fit("none-published", number=len(away) or len(gpus))
        else:
            proof.fit("no-devices")
        return
    held = [one for one in devices if one.state == "Allocated"]
    free = [one for one in devices if one.state == "Free"]
    holders = list(dict.fromkeys(claim for one in held for claim in one.claims))
    if free:
        proof.doubt("some-free", number=len(free), names=[one.name for one in free])
        _quote_devices(free[:2], proof)
    elif len(held) == len(devices):
        proof.fit("all-held", number=len(held), holders=holders or ["-"])
    else:
        proof.doubt("free-unknown", number=len(held), total=len(devices))
    _quote_holders(world, order, holders, proof)
    if away:
        proof.note("held-unpublished", number=len(away), names=list(away))


def _quote_devices(devices: Iterable[Device], proof: Proof) -> None:
    for one in devices:
        proof.quote(one.slice_id, f"spec.devices[{one.idx}].name", one.name.rpartition("/")[2], "Declared")


def _quote_holders(world: World, order: Order, holders: list[str], proof: Proof) -> None:
    claims = world.named("resource.k8s.io", "ResourceClaim")
    for holder in holders[:3]:
        space, _, name = holder.partition("/")
        found = claims.get((order.input, space, name))
        if found:
            proof.quote(found[0], "status.allocation.devices.results", _device_of(world, order, holder))


def _device_of(world: World, order: Order, claim: str) -> str:
    devices, _ = world.fleet.of(order.input)
    return next((one.name.rpartition("/")[2] for one in devices if claim in one.claims), claim)


def memory(world: World, order: Order, said: Said, proof: Proof) -> None:
    """NoAcceleratorWithEnoughMemory: too large for the fleet, or only for what is free now."""
    need, found = needed_and_found(said.message)
    devices, gpus = world.fleet.of(order.input)
    if order.replans:
        proof.note("replans", number=order.replans)
    sized = [(one.memory, one) for one in devices if one.memory is not None]
    largest = max([one.memory for one in gpus if one.memory is not None] + [value for value, _ in sized], default=None)
    if need is None:
        proof.doubt("need-untold")
        if largest is not None:
            proof.note("largest-is", size=largest)
        return
    big = [one for value, one in sized if value >= need]
    busy = [one for one in gpus if one.memory is not None and one.memory >= need]
    _quote_sizes(devices, gpus, proof)
    if big:
        _published(big, need, proof)
    elif any(one.works for one in busy):
        proof.confirm(
            "larger-busy",
            need=need,
            names=[one.name for one in busy if one.works],
            size=max(one.memory or Fraction(0) for one in busy),
        )
        proof.decide("busy", severity="warning", owner="nobody", waiting="yes")
    elif busy:
        proof.doubt("larger-broken", need=need, names=[one.name for one in busy])
        proof.decide("broken", owner="platform", waiting="no")
    elif largest is None:
        proof.doubt("sizes-not-collected", need=need)
    elif _all_known(world, order):
        proof.confirm("fleet-too-small", need=need, size=largest)
        proof.decide("too-small", severity="error", owner="class", waiting="no")
    else:
        proof.doubt("larger-unknown", need=need, size=largest)
    if found is not None and largest is not None and found > largest:
        proof.note("found-gone", found=found, size=largest)


def _published(big: list[Device], need: Fraction, proof: Proof) -> None:
    held = [one for one in big if one.state == "Allocated"]
    if len(held) == len(big):
        proof.confirm(
            "larger-held",
            need=need,
            names=[one.name for one in big],
            holders=sorted({claim for one in held for claim in one.claims}) or ["-"],
        )
        proof.decide("busy", severity="warning", owner="nobody", waiting="yes")
    else:
        proof.doubt("larger-published", need=need, names=[one.name for one in big if one.state != "Allocated"])


def _all_known(world: World, order: Order) -> bool:
    """Whether no accelerator can be larger than those that the bundle shows."""
    fleet = world.fleet
    devices, gpus = fleet.of(order.input)
    if gpus and fleet.gpus_whole:
        # A GPU without a size may be the large one. Devices of other drivers are published or named by a claim.
        return all(one.memory is not None for one in gpus)
    if not fleet.slices_whole or not fleet.claims_whole or fleet.unpublished.get(order.input):
        return False
    return all(one.memory is not None for one in devices) and fleet.gpus_whole


def _quote_sizes(devices: list[Device], gpus: list[Gpu], proof: Proof) -> None:
    for device in sorted(devices, key=lambda one: -(one.memory or 0))[:2]:
        if device.memory is not None:
            proof.quote(device.slice_id, device.memory_path, device.written, "Declared")
    for gpu in sorted(gpus, key=lambda one: -(one.memory or 0))[:2]:
        if gpu.memory is not None:
            proof.quote(gpu.object_id, "status.capabilities.memoryMiB", int(gpu.memory / 1024**2))


def placement(world: World, order: Order, said: Said, proof: Proof) -> None:
    """NoCompatiblePlacement: only the message tells its two causes apart."""
    _, gpus = world.fleet.of(order.input)
    gaps = [one for one in gpus if one.gap or not one.works]
    if _GAP.search(said.message):
        proof.confirm("profile-gap")
        proof.decide("profile", severity="error", owner="platform", waiting="no")
        _tell_gaps(gaps, proof)
    elif _ROOM.search(said.message):
        proof.decide("room", waiting="yes")
        room(world, order, proof)
    else:
        proof.doubt("placement-untold")
        proof.decide("untold", waiting="unknown")
        _tell_gaps(gaps, proof)
    if order.replans:
        proof.note("replans", number=order.replans)


def _tell_gaps(gaps: list[Gpu], proof: Proof) -> None:
    for one in gaps[:3]:
        if one.gap:
            proof.note("gpu-gap", name=one.name, field=one.gap)
            proof.quote(one.object_id, "metadata.name", one.name, "Declared")
        else:
            proof.note("gpu-broken", name=one.name)
            proof.quote(one.object_id, "metadata.name", one.name, "Declared")


def undecidable(world: World, order: Order, said: Said, proof: Proof) -> None:
    """PlacementUndecidable: the class cannot be judged; capacity is no matter here and is not looked at."""
    del said
    found = world.class_of(order)
    if found is None:
        absent(world, order, proof)
        proof.verdict = "unknown"
    names = order.device_classes or (found.device_classes if found else ())
    selectors = list(_selectors(world, order, names))
    for object_id, kind, name, path, expression in selectors:
        if not _balanced(expression):
            proof.confirm("selector-unbalanced", kind=kind, name=name)
            proof.quote(object_id, path, expression, "Declared")
    domains = {domain for *_, expression in selectors for domain in _DOMAIN.findall(expression)}
    published = world.once(("domains", order.input), lambda: _published_domains(world, order))
    strange = sorted(domains - published) if world.fleet.slices_whole else []
    if strange:
        proof.fit("selector-domain", names=strange)
    if names:
        missing = [one for one in names if (order.input, "", one) not in world.named("resource.k8s.io", "DeviceClass")]
        if missing and world.whole.has("resource.k8s.io", "DeviceClass"):
            proof.fit("device-class-missing", names=missing)
    if not proof.said:
        proof.doubt("selector-unjudged", name=order.class_name or "-")
    for object_id, _, _, field, expression in selectors[:3]:
        proof.quote(object_id, field, expression, "Declared")
    proof.note("search-never-began")


def _selectors(world: World, order: Order, names: tuple[str, ...]) -> Iterable[tuple[int, str, str, str, str]]:
    """The selection expressions that may count: (object, kind, name, field, expression)."""
    found = world.class_of(order)
    if found is not None:
        for path, expression in _expressions(world.value(found.object_id).get("spec"), "spec"):
            yield found.object_id, "InferenceServiceClass", found.name, path, expression
    known = world.named("resource.k8s.io", "DeviceClass")
    for name in names[:_MAX_CLASSES]:
        there = known.get((order.input, "", name))
        selectors = mapping(world.value(there[0]).get("spec")).get("selectors") if there else None
        for idx, selector in enumerate(mappings(selectors)):
            found_text = text(mapping(selector.get("cel")).get("expression"))
            if there and found_text:
                yield there[0], "DeviceClass", name, f"spec.selectors[{idx}].cel.expression", found_text


def _expressions(value: object, path: str, depth: int = 0) -> Iterable[tuple[str, str]]:
    """Texts in fields named expression, selector or cel."""
    if depth > 6:
        return
    if isinstance(value, dict):
        for key, inner in list(value.items())[:100]:
            if isinstance(inner, str) and str(key).lower() in ("expression", "selector", "cel", "selectorexpression"):
                yield f"{path}.{key}", inner
            else:
                yield from _expressions(inner, f"{path}.{key}", depth + 1)
    elif isinstance(value, list):
        for idx, inner in enumerate(value[:50]):
            yield from _expressions(inner, f"{path}[{idx}]", depth + 1)


def _balanced(expression: str) -> bool:
    """Whether brackets and quotes of an expression close; more of CEL is not read."""
    rest = _QUOTE.sub("", expression[:10_000])
    if '"' in rest or "'" in rest:
        return False
    open_: list[str] = []
    pairs = {")": "(", "]": "[", "}": "{"}
    for sign in rest:
        if sign in "([{":
            open_.append(sign)
        elif sign in pairs and (not open_ or open_.pop() != pairs[sign]):
            return False
    return not open_


def _published_domains(world: World, order: Order) -> set[str]:
    """The domains of the attributes and capacities that devices have; names without one belong to the driver's."""
    rows = world.con.execute(
        "SELECT DISTINCT driver, unnest(list_concat(json_keys(coalesce(attributes, '{}')), json_keys(coalesce(capacity, '{}')))) "
        "FROM devices WHERE input = ?",
        [order.input],
    ).fetchall()
    drivers = world.con.execute("SELECT DISTINCT driver FROM devices WHERE input = ?", [order.input]).fetchall()
    return {driver for (driver,) in drivers} | {name.partition("/")[0] for _, name in rows if "/" in name}


PROVERS = {
    "NoCapacity": no_room,
    "ResourceClaimExhausted": no_room,
    "NoAcceleratorWithEnoughMemory": memory,
    "NoCompatiblePlacement": placement,
    "PlacementUndecidable": undecidable,
}
