"""``jaywalk list``: what there is, by kind.

What ``jaywalk list`` can list. A kind is one line at the end of this file.

Its target is either a :class:`~jaywalk.core.registry.Registry` or a function that returns rows;
both are imported only when that kind is asked for.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Any, Final

import typer

from jaywalk.cli.output import AsJson, cell_text, print_json, print_table
from jaywalk.core.registry import Registry, Spec

Row = dict[str, Any]  # the first value is the name, the rest describe it


def rows_of(kind: str, *, details: bool = False) -> list[Row]:
    """Return all objects of one kind, as rows with equal keys."""
    source = KINDS.get(kind).load()
    if isinstance(source, Registry):
        versioned = any(entry.version > 1 for entry in source)
        return [
            {"name": entry.name}
            | ({"version": entry.id} if versioned else {})
            | {"summary": entry.summary}
            | ({"id": entry.id} | entry.facts() if details else {})
            for entry in source
        ]
    rows: list[Row] = source()
    return rows


def towns() -> list[Row]:
    """Towns with a few figures."""
    from jaywalk.town.town import available_towns, load_town

    return [
        {
            "name": town.name,
            "road_km": round(sum(road.length_m for road in town.roads) / 1000.0, 1),
            "spawn_points": len(town.spawn_points),
            "lights": len(town.lights),
            "signs": len(town.signs),
            "crosswalks": len(town.crosswalks),
        }
        for town in map(load_town, available_towns())
    ]


def blueprints() -> list[Row]:
    """Blueprints of vehicles, people and props."""
    from jaywalk.server.world.blueprints import library

    rows = []
    for blueprint in library("0.9.16"):
        length_m, width_m, height_m = (2.0 * half for half in blueprint.body.half_extents_m)
        rows.append(
            {
                "name": blueprint.id,
                "kind": blueprint.kind.name.lower(),
                "size_m": f"{length_m:.2f} x {width_m:.2f} x {height_m:.2f}",
                "only_0_9_16": blueprint.only_0_9_16,
            }
        )
    return rows


def sensors() -> list[Row]:
    """Return the sensor blueprints."""
    from jaywalk.server.sensors.catalogue import sensor_library

    return [
        {
            "name": sensor.name,
            "attributes": len(sensor.attributes),
            "only_0_9_16": sensor.only_0916,
            "stage": sensor.stage.value,
            "summary": sensor.summary,
        }
        for sensor in sensor_library()
    ]


def extras() -> list[Row]:
    """Optional parts of the package."""
    from jaywalk.core.extras import EXTRAS

    return [
        {
            "name": extra.name,
            "installed": extra.installed,
            "summary": extra.summary,
            "install": extra.install_command,
        }
        for extra in EXTRAS
    ]


def dialects() -> list[Row]:
    """Versions of CARLA's protocol that the server speaks."""
    from jaywalk.server.encoding.codec import DIALECTS

    return [{"name": version} for version in DIALECTS]


def methods() -> list[Row]:
    """RPC methods that the server answers."""
    from jaywalk.server.protocol import methods as _registers  # noqa: F401  # noqa: F401  # noqa: F401  # noqa: F401
    from jaywalk.server.protocol.rpc import METHODS

    return [
        {
            "name": name,
            "group": method.function.__module__.rsplit(".", 1)[-1],
            "summary": (method.function.__doc__ or "").strip().splitlines()[0],
        }
        for name, method in METHODS.items()
    ]


def protocols() -> list[Row]:
    """Protocols that results can be scored under."""
    from jaywalk.metrics.spec import PROTOCOL_SPECS

    return [
        {
            "name": spec.name,
            "id": spec.id,
            "version": spec.version,
            "scores": ", ".join(spec.scores),
            "summary": spec.summary,
        }
        for spec in PROTOCOL_SPECS
    ]


def metrics() -> list[Row]:
    """Metrics and counts of scored episodes, those of other packages included."""
    from jaywalk.metrics.spec import ordered_metrics

    return [
        {
            "name": spec.name,
            "id": spec.id,
            "unit": spec.unit,
            "direction": spec.direction,
            "label": spec.label,
            "package": spec.package,
            "summary": spec.summary,
        }
        for spec in ordered_metrics()
    ]


def suites() -> list[Row]:
    """Suites with a few figures."""
    from jaywalk.scenarios.suite import SUITES

    return [
        {
            "name": spec.name,
            "version": spec.id,
            "routes": spec.routes,
            "towns": ", ".join(spec.towns),
            "summary": spec.summary,
        }
        for spec in SUITES
    ]


KINDS: Final[Registry[Spec]] = Registry("kind")
KINDS.add("towns", f"{__name__}:towns", "Towns that can be loaded by name")
KINDS.add("blueprints", f"{__name__}:blueprints", "Vehicles, people and props to spawn")
KINDS.add("sensors", f"{__name__}:sensors", "Sensors to attach")
KINDS.add("extras", f"{__name__}:extras", "Optional parts of the package")
KINDS.add("dialects", f"{__name__}:dialects", "CARLA versions that the server speaks")
KINDS.add("methods", f"{__name__}:methods", "RPC methods that the server answers")
KINDS.add("protocols", f"{__name__}:protocols", "Rules that results can be scored under")
KINDS.add("metrics", f"{__name__}:metrics", "Metrics of scored episodes")
KINDS.add("scenarios", "jaywalk.scenarios.catalogue:SCENARIOS", "What can happen on a route")
KINDS.add("suites", f"{__name__}:suites", "Routes to run, under one name and version")
KINDS.add(
    "suite-kinds",
    "jaywalk.suites.building:SUITE_KINDS",
    "Suites that 'jaywalk suite build' makes for any town",
)
KINDS.add("agents", "jaywalk.agents.catalogue:AGENTS", "Drivers that can be run by name")
KINDS.add(
    "predictors", "jaywalk.forecasting.predictors.registry:PREDICTORS", "Predictors of pedestrians"
)
KINDS.add(
    "trajectory-formats",
    "jaywalk.datasets.catalogue:TRAJECTORY_FORMATS",
    "Formats of pedestrian tracks that can be read",
)
KINDS.add(
    "behaviour-datasets",
    "jaywalk.datasets.catalogue:BEHAVIOUR_DATASETS",
    "Datasets of annotated pedestrian behaviour",
)
KINDS.add(
    "behaviour-models",
    "jaywalk.forecasting.behaviour.models.registry:MODELS",
    "Models of pedestrian behaviour",
)


def list_things(
    kind: Annotated[str, typer.Argument(help="What to list; without it: the kinds.")] = "",
    pattern: Annotated[
        str, typer.Option("--filter", help="Only names that match, for example 'vehicle.*'.")
    ] = "*",
    as_json: AsJson = False,
) -> None:
    """List towns, blueprints, sensors and whatever else has a name.

    Example: jaywalk list blueprints --filter 'vehicle.*'
    """
    rows: list[dict[str, Any]]
    if kind:
        rows = rows_of(kind, details=as_json)
    else:
        rows = [{"name": entry.name, "summary": entry.summary} for entry in KINDS]
    rows = [row for row in rows if fnmatchcase(str(row["name"]), pattern)]
    if as_json:
        print_json(rows)
        return
    columns = list(rows[0]) if rows else []
    cells = [[cell_text(row[column]) for column in columns] for row in rows]
    print_table(columns, cells, header_in_pipe=False)  # names for scripts
