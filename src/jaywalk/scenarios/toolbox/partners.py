"""In-distribution partner of a shifted scenario: the same route, traffic and seeds, no shift.

Rules by type, as in the published pairs: the shifted scenario becomes its standard scenario or is
removed. The scenario keeps its name, which names its random streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from jaywalk.core.errors import DataError
from jaywalk.core.text import did_you_mean, some_of
from jaywalk.scenarios.catalogue import SCENARIOS, ScenarioSpec, Shift
from jaywalk.scenarios.toolbox.form import HALVES, AuthoredScenario, authored_of
from jaywalk.scenarios.toolbox.routes import defaults_of

_ANIMAL: Final = "walker.animal."
_PERSON: Final = "walker.pedestrian.*"
_LONG_M: Final = 6.0  # longer layouts are compared with a construction site, others with a car


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """A shifted scenario without its shift; ``table`` is None if nothing is left."""

    table: dict[str, Any] | None
    shift: str
    words: str


def partner_document(
    document: Mapping[str, Any], name: str
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return both halves of a pair, made from the shifted one.

    Args:
        document: Plain values of the scenario file.
        name: The file, for messages.

    Returns:
        The base half, the shifted half (with its pair added), and a line for each scenario on its
        change.

    Raises:
        DataError: No scenario of the file is a shift.
    """
    file = authored_of(document, name)
    if file.half == HALVES[0]:
        raise DataError(
            f"'{name}', half: is 'base', so it is a partner already. Give the shifted scenario of "
            f"pair '{file.pair}'."
        )
    base: dict[str, Any] = deepcopy(dict(document))
    shifted: dict[str, Any] = deepcopy(dict(document))
    kept, lines, shifts = [], [], []
    for authored, table in zip(file.scenarios, base.get("scenario", []), strict=True):
        partner = partner_of(authored, table)
        if partner is None:
            kept.append(table)
            lines.append(f"{authored.name}: kept, {authored.type} is not a shift")
            continue
        shifts.append(partner.shift)
        lines.append(f"{authored.name}: {partner.words}")
        if partner.table is not None:
            kept.append(partner.table)
    if not shifts:
        shifted_types = [spec.name for spec in SCENARIOS if spec.shifts]
        own = [one.type for one in file.scenarios]
        near = did_you_mean(own[0], shifted_types) if own else ""
        raise DataError(
            f"'{name}': no scenario of it is a shift, so there is nothing to pair.{near} Shifted "
            f"types: {some_of(shifted_types)}; and animals or other blockers in the crossing types."
        )
    pair = file.pair or file.name
    base.pop("scenario", None)
    base |= {"name": f"{file.name}-base", "pair": pair, "half": "base", "shift": shifts[0]}
    if "id" in document and file.id.isdecimal() and int(file.id) >= 1000:
        base["id"] = str(int(file.id) - 1000)
    elif "id" in document:
        base["id"] = f"{file.id}-base"
    if kept:
        base["scenario"] = kept
    shifted |= {"pair": pair, "half": "generalization", "shift": shifts[0]}
    return base, shifted, lines


def partner_of(authored: AuthoredScenario, table: Mapping[str, Any]) -> Partner | None:
    """Return the scenario without its shift; None if it is not a shift."""
    params: dict[str, Any] = dict(table.get("params", {}))
    spec = SCENARIOS.get(authored.type) if authored.type in SCENARIOS else None
    if spec is None or not spec.shifts:
        return _other_actor(table, params)
    shift = _shift_of(spec, authored)
    if spec.base_setting is not None:
        key, value = spec.base_setting
        if params.get(key) == value:
            return None
        changed = {**table, "params": {**params, key: value}}
        return Partner(table=changed, shift=shift.name, words=f"{key} is now {value}")
    if spec.base_without:
        kept = {key: value for key, value in params.items() if key not in spec.base_without}
        changed = {**table, "type": spec.base, "params": kept}
        without = " and ".join(spec.base_without)
        return Partner(
            table=changed,
            shift=shift.name,
            words=f"{authored.type} is now {spec.base} without {without}",
        )
    base = spec.base
    if spec.partners:
        base = spec.partners[authored.partner or shift.partner or _like(authored)]
    return _as_type(table, params, base, shift.name, authored)


def _shift_of(spec: ScenarioSpec, authored: AuthoredScenario) -> Shift:
    """Return a scenario's class of shift: that of its objects or name, or the type's first."""
    for shift in spec.shifts[1:]:
        models = [thing.model for thing in authored.objects]
        if any(word in model for word in shift.object_models for model in models):
            return shift
        if shift.scenario_name and shift.scenario_name in authored.name:
            return shift
    return spec.shifts[0]


def _as_type(
    table: Mapping[str, Any],
    params: Mapping[str, Any],
    base: str,
    shift: str,
    authored: AuthoredScenario,
) -> Partner:
    if not base:
        return Partner(
            table=None, shift=shift, words=f"{authored.type} goes, nothing is in its place"
        )
    known = defaults_of(base)
    changed = {key: value for key, value in table.items() if key not in ("objects", "partner")}
    changed |= {"type": base, "params": {k: v for k, v in params.items() if k in known}}
    return Partner(table=changed, shift=shift, words=f"{authored.type} is now {base}")


def _other_actor(table: Mapping[str, Any], params: Mapping[str, Any]) -> Partner | None:
    """Replace animals by people, and an unusual blocker by the usual one."""
    walker, blocker = str(params.get("walker", "")), params.get("blocker_model")
    if walker.startswith(_ANIMAL):
        changed = {**table, "params": {**params, "walker": _PERSON}}
        return Partner(table=changed, shift="Animals", words=f"{walker} is now {_PERSON}")
    if table.get("type") != "DynamicObjectCrossing" or blocker is None:
        return None
    usual = {k: v for k, v in params.items() if k not in ("blocker_model", "blocker_z")}
    return Partner(
        table={**table, "params": usual},
        shift="PedestrianOtherBlocker",
        words=f"{blocker} is now the usual blocker",
    )


def _like(authored: AuthoredScenario) -> str:
    """Return the partner word: construction site for a long layout, parked car for a short one."""
    ahead = [float(thing.numbers.get("x", 0.0)) for thing in authored.objects] or [0.0]
    return "construction" if max(ahead) - min(ahead) > _LONG_M else "parked"
