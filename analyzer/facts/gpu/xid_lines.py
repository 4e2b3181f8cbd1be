"""One line about a GPU's error, taken apart: what stands before the driver's words (time, host, boot) and the words themselves.

Lines are written by dmesg in its various ways, journald, syslog, /dev/kmsg, pstore, `journalctl -o json`, the fabric manager, and
by containers that repeat them, the words of which a logger may have put into JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from typing import Any

import orjson

from analyzer.facts.values import moment

_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_LEVEL = r"[a-z]{1,12}\s{0,12}:[a-z]{1,12}\s{0,12}:\s"
_UPTIME = r"\[\s*(?P<uptime>\d{1,12}\.\d{1,9})\]"
_HOST = r"(?P<host>[A-Za-z0-9][A-Za-z0-9.-]{0,252})"

_OUTER = re.compile(rf"\s*(?:\[pod/[^\]\s]{{1,600}}\]\s)?(?:(?P<at>{_ISO})\s(?:std(?:out|err) [FP] )?)?", re.ASCII)
_INNER = (
    re.compile(rf"(?:{_LEVEL}|<\d{{1,3}}>)?{_UPTIME}", re.ASCII),
    re.compile(rf"(?:{_LEVEL})?\[(?P<stamp>{_DAY} {_MONTH} [ \d]\d \d\d:\d\d:\d\d \d{{4}})\]", re.ASCII),
    re.compile(rf"\[(?P<stamp>{_MONTH} \d\d \d{{4}} \d\d:\d\d:\d\d)\]", re.ASCII),
    re.compile(rf"{_LEVEL}(?P<at>{_ISO})", re.ASCII),
    re.compile(r"\d{1,5},\d{1,18},(?P<micros>\d{1,18}),[^;]{0,200};", re.ASCII),
    re.compile(
        rf"(?:<\d{{1,3}}>)?(?P<stamp>{_MONTH} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{{1,6}})?) {_HOST} \S{{1,80}}:(?: {_UPTIME})?",
        re.ASCII,
    ),
    re.compile(rf"{_HOST} (?:kernel|[\w.@-]{{1,60}}\[\d{{1,10}}\]):(?: {_UPTIME})?", re.ASCII),
)
_STAMP = re.compile(rf"({_MONTH}) ([ \d]\d) (\d\d:\d\d:\d\d)(?:\.\d{{1,6}})?", re.ASCII)
_JOURNAL = {
    "host": ("_HOSTNAME", r"([A-Za-z0-9][A-Za-z0-9.-]{0,252})"),
    "micros": ("__REALTIME_TIMESTAMP", r"(\d{15,17})"),
    "boot": ("_BOOT_ID", r"([0-9a-f]{32})"),
}
_JSON = {name: re.compile(rf'"{key}"\s?:\s?"{value}"', re.ASCII) for name, (key, value) in _JOURNAL.items()}
_EXPORT = {name: re.compile(rf"^{key}={value}$", re.ASCII | re.MULTILINE) for name, (key, value) in _JOURNAL.items()}
_MESSAGES = ("MESSAGE", "log", "message", "msg")
_XID = re.compile(r"(?<!S)Xid \((?:PCI:)?(?P<pci>[0-9a-fA-F:.]{5,20})[^)]{0,40}\)[^:]{0,40}: (?P<code>\d{1,9})\b", re.ASCII)
_PCI = re.compile(r"(?:([0-9a-fA-F]{4,8}):|00)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})(?:\.[0-9a-fA-F])?", re.ASCII)
_NAMED = re.compile(r"\b([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})(?:\.[0-9a-fA-F])?\b", re.ASCII)
_PROCESS = re.compile(r"pid='?(?P<pid>[^,']{1,40})'?(?:, name='?(?P<name>[^,']{1,100})'?)?,?\s*", re.ASCII)
_DETAIL = re.compile(r"S?Xid \([^)]{1,60}\)[^:]{0,40}: \d{1,9},?\s?(?P<rest>.*)", re.ASCII | re.DOTALL)
_GRADE = re.compile(r"\b(?P<non>[Nn]on-?)?[Ff]atal\b", re.ASCII)
_RECOVERY = re.compile(r"changed from \S{1,12} \([^)]{1,60}\) to \S{1,12} \((?P<to>[^)]{1,60})\)", re.ASCII)
_MORE = re.compile(r"\s*(?:Data \{|Severity \d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Front:
    """What stands before the words: the time (`at` in UTC, else `stamp` as written), seconds since the boot, host, boot id."""

    at: datetime | None = None
    stamp: str | None = None
    uptime: float | None = None
    host: str | None = None
    boot: str | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """The words behind the code: the process, whether it is fatal, the recovery asked for; `more` continues another line."""

    detail: str
    pid: int | None = None
    process: str | None = None
    grade: str | None = None
    recovery: str | None = None
    more: bool = False


def front(line: str, around: str = "") -> Front:
    """What stands before the driver's words in a line of a log.

    Args:
        line: the line.
        around: the lines around it: of `journalctl -o export` they have what of others the line itself has.
    """
    if line.startswith("MESSAGE="):
        return _exported(around)
    outer = _OUTER.match(line)
    at = _at(outer["at"]) if outer else None
    rest = line[outer.end() :] if outer else line
    told: dict[str, str] = {}
    if rest.startswith("{"):
        told = {name: match[1] for name, pattern in _JSON.items() if (match := pattern.search(rest))}
        rest = _unwrapped(rest)
    at = at or _of_micros(told.get("micros"))
    for pattern in _INNER:
        match = pattern.match(rest)
        if match:
            part = match.groupdict()
            ticks = part.get("micros")
            uptime = float(part["uptime"]) if part.get("uptime") else int(ticks) / 1e6 if ticks else None
            stamp = part.get("stamp") or (None if uptime is None else f"{uptime:.6f} s after the boot")
            return Front(at or _at(part.get("at")), stamp, uptime, told.get("host") or part.get("host"), told.get("boot"))
    return Front(at, None, None, told.get("host"), told.get("boot"))


def _exported(around: str) -> Front:
    told = {name: match[1] for name, pattern in _EXPORT.items() if (match := pattern.search(around))}
    return Front(_of_micros(told.get("micros")), None, None, told.get("host"), told.get("boot"))


def message(line: str) -> str:
    """The line; where a logger put it into JSON, the words that it put there."""
    outer = _OUTER.match(line)
    rest = line[outer.end() :] if outer else line
    return _unwrapped(rest) if rest.startswith("{") else line


def _unwrapped(text: str) -> str:
    try:
        told: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    found = [told[key] for key in _MESSAGES if isinstance(told.get(key), str)] if isinstance(told, dict) else []
    return found[0].rstrip() if found else text


def xids(text: str) -> Iterator[tuple[str, str, str]]:
    """Each Xid of a message: address and code as they are written, and the words from there up to the next one."""
    found = list(_XID.finditer(text))
    for match, behind in zip_longest(found, found[1:]):
        words = text[match.start() : behind.start() if behind else len(text)]
        yield match["pci"], match["code"], words.removesuffix("NVRM: ")


def _of_micros(value: str | None) -> datetime | None:
    return datetime.fromtimestamp(int(value) / 1e6, UTC).replace(tzinfo=None) if value else None


def _at(value: str | None) -> datetime | None:
    return moment(value.replace(",", ".")) if value else None


def about(stamp: str | None, as_of: datetime) -> datetime | None:
    """Roughly when a stamp of syslog, which has no year, was written: in the year before `as_of`; None for other stamps.

    The host's time zone is not known, so this may be off by up to 14 hours.
    """
    found = _STAMP.fullmatch(stamp) if stamp else None
    if found is None:
        return None
    month, day, clock = found.groups()
    for year in (as_of.year, as_of.year - 1):
        try:
            at = datetime.strptime(f"{year} {month} {int(day)} {clock}", "%Y %b %d %H:%M:%S")  # noqa: DTZ007 - naive, as the tables
        except ValueError:
            continue
        if at <= as_of + timedelta(days=1):
            return at
    return None


def words(line: str) -> Words:
    """The words of a line behind `Xid (PCI:…): CODE,` (or SXid)."""
    text = message(line)
    match = _DETAIL.search(text)
    detail = match["rest"] if match else text
    pid = process = None
    told = _PROCESS.match(detail)
    if told:
        detail = detail[told.end() :]
        pid = int(told["pid"]) if told["pid"].isdigit() and len(told["pid"]) < 12 else None
        process = told["name"].strip() if told["name"] and "<unknown>" not in told["name"] else None
    graded = _GRADE.search(detail)
    asked = _RECOVERY.search(detail)
    return Words(
        detail.strip(),
        pid,
        process,
        ("nonfatal" if graded["non"] else "fatal") if graded else None,
        asked["to"].strip() if asked else None,
        bool(_MORE.match(detail)),
    )


def pci(value: str | None) -> str | None:
    """A PCI address as the kernel driver writes it (domain:bus:device), however long its domain; None where it is none."""
    match = _PCI.fullmatch(value.strip().rstrip(":")) if value else None
    if match is None:
        return None
    domain = (match[1] or "0000").lower()
    domain = domain[-4:] if domain[:-4].strip("0") == "" else domain
    return f"{domain}:{match[2]}:{match[3]}".lower()


def requester(number: str) -> str | None:
    """The PCI address of what older kernels write as the id of a requester: bus, and device with function, in hexadecimal."""
    value = int(number, 16)
    return pci(f"{value >> 8:02x}:{(value & 0xFF) >> 3:02x}")


def named_pci(text: str) -> str | None:
    """The last PCI address that a text names."""
    found = _NAMED.findall(text)
    return pci(found[-1]) if found else None
