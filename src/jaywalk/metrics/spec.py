"""Specs of metrics and protocols, and their registries.

A metric is one function with the decorator :func:`metric` (or :func:`count`), next to the code
that it needs. Its spec states everything that tables, reports, comparisons and docs say about it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args

from jaywalk.core.errors import RegistryError
from jaywalk.core.registry import Registry, Spec
from jaywalk.metrics.pooling import MEAN, NOT_NEGATIVE, SHARE, Pooling, per_km

if TYPE_CHECKING:
    from jaywalk.record import Record
    from jaywalk.record.tracks import EpisodeTracks

Direction = Literal["lower", "higher", "none"]
T = TypeVar("T")

# Order of metrics in scores and tables. The metrics of a group are registered in one module and
# keep its order; those of the last group, for other packages, are sorted by name.
GROUPS: Final = (
    "score",
    "progress",
    "collisions",
    "people hit",
    "signals",
    "endangerment",
    "scenarios",
    "hit while standing",
    "braking",
    "time to collision",
    "forecasts",
    "comfort",
    "public protocols",
    "other",
)
OTHER: Final = GROUPS[-1]
EVENTS: Final = "events"  # unit of counts
# Units that a label needs not name: the words already say it.
_SILENT_UNITS: Final = frozenset({"share", "points", "probability", "people", EVENTS})
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class MetricResult:
    """Value of a metric in one episode, and whether the metric applies there.

    Attributes:
        value: A finite number, or None where the metric does not apply.
        valid: Whether it applies.
        n: Number of things the value rests on, for example braking events; 0 where it does not
            apply.
    """

    value: float | None
    valid: bool = True
    n: int = 1

    def __post_init__(self) -> None:
        if self.valid and (self.value is None or not math.isfinite(self.value)):
            raise ValueError(
                f"A valid result needs a finite value, not {self.value}. Return NOT_APPLICABLE "
                "where the metric does not apply."
            )
        if not self.valid and self.value is not None:
            raise ValueError(f"A result that is not valid has no value, but this has {self.value}.")

    @classmethod
    def of(cls, value: float, n: int = 1) -> MetricResult:
        """Return a result of a computation that gives NaN where it does not apply."""
        return cls(float(value), n=n) if math.isfinite(value) else NOT_APPLICABLE

    @property
    def or_nan(self) -> float:
        """The value for arrays and JSON writers; NaN where it does not apply."""
        return math.nan if self.value is None else self.value


NOT_APPLICABLE: Final = MetricResult(None, valid=False, n=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec(Spec):
    """All facts about a metric; ``target`` is its function, empty if a protocol computes it.

    Attributes:
        unit: For example ``m``, ``share`` or ``per km``.
        direction: Which values are better; ``none`` if neither is.
        label: Words for tables and pages, without the unit.
        pooling: Rule that pools episodes into one figure of a run.
        requires: Condition on an episode for the metric to apply; empty if it always applies.
        group: Place in tables, one of ``GROUPS``.
        bounds: Range of the values.
        is_count: Whether it counts events. Counts are given per km driven.
        primary: Whether a claim "better" may rest on it, see ``jaywalk compare``. Of a count this
            means its rate per km.
        zero_if_missing: Whether protocols that count a missing episode as zero do so here.
        package: Top-level package that registered it.
    """

    unit: str
    direction: Direction
    label: str
    pooling: Pooling = MEAN
    requires: str = ""
    group: str = OTHER
    bounds: tuple[float, float] = NOT_NEGATIVE
    is_count: bool = False
    primary: bool = False
    zero_if_missing: bool = False
    package: str = "jaywalk"

    @property
    def shown_unit(self) -> str:
        """Unit as labels show it; empty if the words contain it."""
        return "" if self.unit in _SILENT_UNITS else self.unit

    @property
    def place(self) -> tuple[int, str, int, str]:
        """Sort key for tables."""
        code = getattr(self.target, "__code__", None)
        line = 0 if code is None or self.group == OTHER else code.co_firstlineno
        module = "" if self.group == OTHER else getattr(self.target, "__module__", "")
        return GROUPS.index(self.group), module, line, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolSpec(Spec):
    """All facts about a protocol; ``target`` scores one record: ``target(record)``.

    Attributes:
        scores: Kinds of input: ``recorded runs``, ``result files``.
    """

    scores: tuple[str, ...] = ("recorded runs",)


METRICS: Final[Registry[MetricSpec]] = Registry(
    "metric",
    packages=(
        "jaywalk.metrics.safety",
        "jaywalk.metrics.driving._jaywalk_protocol",
        "jaywalk.metrics.driving._public_metrics",
    ),
)
PROTOCOL_SPECS: Final[Registry[ProtocolSpec]] = Registry(
    "protocol",
    packages=(
        "jaywalk.metrics.driving._jaywalk_protocol",
        "jaywalk.metrics.driving._public_score",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInput:
    """One recorded episode, as a metric function receives it.

    Attributes:
        record: The record: tables of ticks, states, events, forecasts, the route.
        tracks: Its bodies as dense arrays; the ego is among them.
        rules: Thresholds that differ from their defaults, by type.
    """

    record: Record
    tracks: EpisodeTracks
    rules: Mapping[type, Any] = field(default_factory=dict)
    _shared: dict[Callable[..., Any], Any] = field(default_factory=dict, repr=False)

    def rules_of(self, kind: type[T]) -> T:
        """Return the thresholds of a type; its defaults if no others were chosen."""
        chosen: T = self.rules[kind] if kind in self.rules else kind()
        return chosen

    def shared(self, function: Callable[[MetricInput], T]) -> T:
        """Return ``function(self)``, computed once for all metrics of the episode."""
        if function not in self._shared:
            self._shared[function] = function(self)
        result: T = self._shared[function]
        return result


MetricFunction = Callable[[MetricInput], "MetricResult | float | None"]
CountFunction = Callable[[MetricInput], int]
FunctionT = TypeVar("FunctionT", bound=Callable[[MetricInput], Any])


def metric(
    name: str,
    *,
    unit: str,
    direction: Direction,
    label: str,
    pooling: Pooling = MEAN,
    requires: str = "",
    version: int = 1,
    group: str = OTHER,
    bounds: tuple[float, float] | None = None,
    primary: bool = False,
    zero_if_missing: bool = False,
) -> Callable[[FunctionT], FunctionT]:
    """Register a function as a metric of protocol ``jaywalk``.

    The function is called once for each recorded episode that has an ego. It receives one
    :class:`MetricInput` and returns one of:

    - a :class:`MetricResult`, with ``n`` where the value rests on several things;
    - a finite number, short for ``MetricResult(number)``;
    - ``NOT_APPLICABLE`` or None where the metric does not apply to the episode. Such an episode is
      left out of the figures of the run. It is neither zero nor NaN; a function that returns NaN
      or infinity is refused with an error that names it.

    It must depend on its input alone: no clock, no random numbers without a fixed seed, no files
    but the record. It must not change the arrays it is given. Work that several metrics need goes
    into a function of its own, called with ``episode.shared(function)``; thresholds into a frozen
    dataclass with defaults, read with ``episode.rules_of(Type)``.

    The first line of its docstring is the metric's summary in lists and docs.

    Args:
        name: Key in JSON, lower case with underscores. Physical units end the name, e.g. ``_m``.
        unit: Unit of the value, ``share`` for 0 to 1.
        direction: ``lower`` or ``higher`` is better, or ``none``.
        label: Words for tables and pages, without the unit.
        pooling: Rule that pools episodes into one figure of a run, see `metrics.pooling`.
        requires: Condition on an episode for the metric to apply.
        version: Raise it with every change that can move a value.
        group: Place in tables; other packages leave it out.
        bounds: Range of the values; by default 0 to 1 of shares, 0 to 100 of percentages, else
            0 to infinity. Give ``(-math.inf, math.inf)`` for values that can be negative.
        primary: Whether a claim "better" may rest on it.
        zero_if_missing: Whether protocols that count a missing episode as zero do so here.

    Example::

        @metric("top_speed_mps", unit="m/s", direction="none", label="Top speed")
        def top_speed(episode: MetricInput) -> float:
            '''Highest speed of the ego.'''
            return float(episode.tracks.speed_mps(episode.tracks.ego).max())

    Raises:
        RegistryError: A fact is missing or wrong, or the name is taken.
    """

    def register(function: FunctionT) -> FunctionT:
        METRICS.register(
            _checked(
                MetricSpec(
                    name=name,
                    summary=_summary(function),
                    version=version,
                    target=function,
                    unit=unit,
                    direction=direction,
                    label=label,
                    pooling=pooling.bound_to(name),
                    requires=requires,
                    group=group,
                    bounds=_bounds(unit) if bounds is None else bounds,
                    primary=primary,
                    zero_if_missing=zero_if_missing,
                    package=function.__module__.partition(".")[0],
                )
            )
        )
        return function

    return register


def count(
    name: str,
    *,
    label: str,
    direction: Direction = "lower",
    version: int = 1,
    group: str = OTHER,
    primary: bool = False,
) -> Callable[[FunctionT], FunctionT]:
    """Register a function that counts events of an episode.

    The contract is that of :func:`metric`, but the function returns a whole number. It appears
    among the ``counts`` of an episode, and per km driven in the figures of a run.
    """

    def register(function: FunctionT) -> FunctionT:
        spec = count_spec(name, label=label, summary=_summary(function), primary=primary)
        METRICS.register(
            _checked(
                replace(
                    spec,
                    target=function,
                    version=version,
                    direction=direction,
                    group=group,
                    package=function.__module__.partition(".")[0],
                )
            )
        )
        return function

    return register


def count_spec(name: str, *, label: str, summary: str, primary: bool = False) -> MetricSpec:
    """Return the spec of a count that a protocol computes itself."""
    return MetricSpec(
        name=name,
        summary=summary,
        unit=EVENTS,
        direction="lower",
        label=label,
        pooling=per_km(name),
        group="public protocols",
        is_count=True,
        primary=primary,
    )


def spec_of(name: str) -> MetricSpec:
    """Return the spec of a metric; for an unknown metric, a spec with only its name.

    Scores can come from a machine with other packages, so unknown names are not an error.
    """
    if name in METRICS:
        return METRICS.get(name)
    words = name.replace("_", " ")
    label = words[:1].upper() + words[1:]
    return MetricSpec(
        name=name, summary="", unit="", direction="none", label=label, package="unknown"
    )


def ordered_metrics() -> list[MetricSpec]:
    """All registered metrics and counts, in the order of scores and tables."""
    return sorted(METRICS, key=lambda spec: spec.place)


def computed_metrics(*, counts: bool = False) -> list[MetricSpec]:
    """Metrics, or counts, that have a function: those of protocol ``jaywalk``, in order."""
    specs = ordered_metrics()
    return [spec for spec in specs if spec.is_count is counts and callable(spec.target)]


def _summary(function: Callable[..., Any]) -> str:
    return (function.__doc__ or "").strip().partition("\n")[0]


def _bounds(unit: str) -> tuple[float, float]:
    if unit in ("share", "probability"):
        return SHARE
    return (0.0, 100.0) if unit == "%" else NOT_NEGATIVE


def _checked(spec: MetricSpec) -> MetricSpec:
    problems = [
        f"{what} is {value!r}, expected {expected}"
        for what, value, expected, is_good in (
            (
                "name",
                spec.name,
                "lower-case words joined by underscores",
                _NAME.fullmatch(spec.name),
            ),
            ("unit", spec.unit, "a unit, 'share' for 0 to 1", spec.unit),
            (
                "direction",
                spec.direction,
                "one of " + ", ".join(get_args(Direction)),
                spec.direction in get_args(Direction),
            ),
            ("label", spec.label, "words for tables", spec.label),
            ("group", spec.group, f"one of {', '.join(GROUPS)}", spec.group in GROUPS),
            ("docstring", spec.summary, "a line that says what it measures", spec.summary),
        )
        if not is_good
    ]
    if problems:
        raise RegistryError(f"The metric '{spec.name}' cannot be registered: {problems[0]}.")
    return spec
