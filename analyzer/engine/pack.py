"""Rule packs: a folder with one folder a domain and one file a rule. One broken rule never stops the others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from analyzer import content
from analyzer.bundle.errors import UsageError
from analyzer.bundle.signatures import Signature
from analyzer.engine.model import RuleSet
from analyzer.engine.rule import BrokenRule, Rule, RuleError, read_rule
from analyzer.engine.signature_file import SUFFIX as SIGNATURES_SUFFIX
from analyzer.engine.signature_file import read_signatures
from analyzer.engine.yamltext import Place, YamlError, read_yaml

CASES_SUFFIX = ".cases.yaml"
MAX_RULES = 2_000
"""Rule files of one pack."""
MAX_SIGNATURE_FILES = 100
"""Signature files of one pack."""


class _Digest(Protocol):
    """What a digest is fed by."""

    def update(self, data: bytes, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Pack:
    """The rules of one folder. `trusted` is true for the built-in pack alone; the digest is over the files' bytes.

    `signatures` come with the place where each stands; a signature file that cannot be used is among `broken`.
    """

    folder: Path
    trusted: bool
    rules: tuple[Rule, ...]
    broken: tuple[BrokenRule, ...]
    digest: str
    signatures: tuple[tuple[Signature, Place], ...] = ()

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of its rules, broken ones too."""
        return (*(rule.code for rule in self.rules), *(broken.code for broken in self.broken))


def load_packs(folders: Sequence[Path] = ()) -> tuple[Pack, ...]:
    """The built-in pack, then the ones in the folders, in that order.

    A code that an earlier pack has already is broken in the later one, unless that rule says `override: true`; then
    the earlier rule is left out (`joined`). The id of a signature is never taken twice.

    Raises:
        UsageError: a folder is not there, or holds no rule.
    """
    packs = [built_in(checked=False)]
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"no rule pack at {folder}: not a folder")
        if not rule_files(folder):
            raise no_rules(folder)
        packs.append(load_pack(folder))
    return joined(packs)


def built_in(*, checked: bool = True) -> Pack:
    """Our own pack; `checked` as for `load_pack`."""
    return load_pack(content.folder("rules"), trusted=True, checked=checked)


def load_pack(folder: Path, *, trusted: bool = False, checked: bool = True) -> Pack:
    """The rules of one folder, whatever is wrong with some of them.

    Args:
        folder: the pack.
        trusted: somebody vouches for its queries.
        checked: false leaves the check of its templates to their first use; for rules whose tests have checked them.
    """
    rules: list[Rule] = []
    broken: list[BrokenRule] = []
    digest = hashlib.sha256()
    for path in rule_files(folder):
        code, shown = code_of(path), _shown(path, folder)
        if len(rules) + len(broken) >= MAX_RULES:
            broken.append(BrokenRule(code, Place(shown, 1), f"a pack holds at most {MAX_RULES} rules"))
            break
        try:
            document = read_yaml(path, shown)
            digest.update(f"{code}\0".encode() + path.read_bytes())
            rules.append(read_rule(document, code, checked=checked))
        except (YamlError, RuleError) as error:
            broken.append(BrokenRule(code, error.place, error.problem))
        except OSError as error:
            broken.append(BrokenRule(code, Place(shown, 1), f"cannot be read: {error.strerror}"))
    signatures = _signatures(folder, broken, digest)
    return Pack(folder, trusted, tuple(rules), tuple(broken), digest.hexdigest(), signatures)


def _signatures(folder: Path, broken: list[BrokenRule], digest: _Digest) -> tuple[tuple[Signature, Place], ...]:
    """The signatures of one folder; a file that cannot be used is added to `broken`."""
    found: dict[str, tuple[Signature, Place]] = {}
    for number, path in enumerate(sorted(folder.glob(f"*/*{SIGNATURES_SUFFIX}"))):
        code, shown = code_of(path), _shown(path, folder)
        if number >= MAX_SIGNATURE_FILES:
            broken.append(BrokenRule(code, Place(shown, 1), f"a pack holds at most {MAX_SIGNATURE_FILES} signature files"))
            break
        try:
            for signature, line in read_signatures(path, shown):
                if signature.id in found:
                    broken.append(_taken(code, signature, Place(shown, line), found[signature.id][1]))
                else:
                    found[signature.id] = (signature, Place(shown, line))
            digest.update(f"{code}\0".encode() + path.read_bytes())
        except YamlError as error:
            broken.append(BrokenRule(code, error.place, error.problem))
        except OSError as error:
            broken.append(BrokenRule(code, Place(shown, 1), f"cannot be read: {error.strerror}"))
    return tuple(found.values())


def _taken(code: str, signature: Signature, place: Place, earlier: Place) -> BrokenRule:
    return BrokenRule(code, place, f"signature id {signature.id} is taken by {earlier}")


def signatures_of(packs: Iterable[Pack]) -> tuple[Signature, ...]:
    """All signatures of the packs, whose ids differ (`load_packs`)."""
    return tuple(signature for pack in packs for signature, _ in pack.signatures)


def rule_files(folder: Path) -> list[Path]:
    """The rule files of a pack: DOMAIN/Code.yaml, sorted."""
    return sorted(path for path in folder.glob("*/*.yaml") if not path.name.endswith((CASES_SUFFIX, SIGNATURES_SUFFIX)))


def no_rules(folder: Path) -> UsageError:
    """What to say of a folder that is no rule pack."""
    return UsageError(f"{folder} holds no rules: they lie in {folder / 'DOMAIN' / 'CODE.yaml'}")


def code_of(path: Path) -> str:
    """The code that a rule file or a cases file stands for."""
    return f"{path.parent.name}/{path.name.removesuffix(CASES_SUFFIX).removesuffix('.yaml')}"


def rule_set(packs: Iterable[Pack]) -> RuleSet:
    """How many rules there are, and one digest over all packs."""
    packs = list(packs)
    if len(packs) == 1:
        return RuleSet(len(packs[0].rules), packs[0].digest)
    digest = hashlib.sha256("".join(pack.digest for pack in packs).encode()).hexdigest()
    return RuleSet(sum(len(pack.rules) for pack in packs), digest)


def _shown(path: Path, folder: Path) -> str:
    return f"{folder.name}/{path.relative_to(folder).as_posix()}"


def joined(packs: Sequence[Pack]) -> tuple[Pack, ...]:
    """The packs, with every code in one of them only: a later one is broken, or replaces the earlier (`override`)."""
    known: dict[str, tuple[int, Rule]] = {}
    ids: dict[str, Place] = {}
    kept: list[dict[str, Rule]] = []
    broken: list[list[BrokenRule]] = []
    signatures: list[list[tuple[Signature, Place]]] = []
    for number, pack in enumerate(packs):
        kept.append({})
        broken.append(list(pack.broken))
        for rule in pack.rules:
            earlier = known.get(rule.code)
            if earlier and not rule.override:
                problem = f"code {rule.code} is taken by {earlier[1].place}; say override: true to replace it"
                broken[number].append(BrokenRule(rule.code, rule.place, problem))
                continue
            if earlier:
                del kept[earlier[0]][rule.code]
            known[rule.code] = (number, rule)
            kept[number][rule.code] = rule
        signatures.append([])
        for signature, place in pack.signatures:
            if signature.id in ids:
                code = f"{signature.id.partition('/')[0]}/{Path(place.file).name.removesuffix('.yaml')}"
                broken[number].append(_taken(code, signature, place, ids[signature.id]))
                continue
            ids[signature.id] = place
            signatures[number].append((signature, place))
    return tuple(
        replace(
            pack,
            rules=tuple(kept[number].values()),
            broken=tuple(broken[number]),
            signatures=tuple(signatures[number]),
        )
        for number, pack in enumerate(packs)
    )
