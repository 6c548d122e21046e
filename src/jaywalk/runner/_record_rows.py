"""Rows of the record that only the runner knows: the route, decisions, and events of scenarios."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jaywalk.actors.events import ScenarioEvent
from jaywalk.agents.base import Decision, Forecast
from jaywalk.record import columns as c
from jaywalk.record.capture import EpisodeCapture
from jaywalk.record.episode import canonical_json
from jaywalk.record.writer import EpisodeWriter
from jaywalk.runner.ending import RouteProgress
from jaywalk.town.lane_graph import RoadOption
from jaywalk.town.routes import DenseRoute

_ROTATION: Final = (c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG)
_LANE: Final = (c.ROAD_ID, c.SECTION_ID, c.LANE_ID)


def add_route(writer: EpisodeWriter, route: DenseRoute) -> None:
    """Write the dense route to the record."""
    for k in range(len(route)):
        x, y, z = (float(value) for value in route.position_m[k])
        writer.add(
            "route",
            **{
                c.INDEX: k,
                c.X_M: x,
                c.Y_M: y,
                c.Z_M: z,
                c.ROAD_OPTION: RoadOption(int(route.option[k])).name,
                c.IS_JUNCTION: bool(route.in_junction[k]),
                **dict(zip(_ROTATION, map(float, route.rotation_deg[k]), strict=True)),
                **dict(zip(_LANE, map(int, route.lane[k]), strict=True)),
            },
        )


def add_decision(
    capture: EpisodeCapture, ego: Any, decision: Decision, progress: RouteProgress
) -> None:
    """Write the driver's input and decision of the present tick to the record."""
    control, tick = decision.control, capture.tick
    row: dict[str, Any] = {
        c.TICK: tick,
        c.ROUTE_INDEX: progress.index,
        c.SPEED_LIMIT_KMH: ego.get_speed_limit(),
        c.COMMAND_THROTTLE: control.throttle,
        c.COMMAND_STEER: control.steer,
        c.COMMAND_BRAKE: control.brake,
    }
    if decision.plan is not None:
        row[c.PATH_X_M] = decision.plan.path_m[:, 0].tolist()
        row[c.PATH_Y_M] = decision.plan.path_m[:, 1].tolist()
        if decision.plan.time_s is not None:
            row[c.PATH_TIME_S] = decision.plan.time_s.tolist()
    capture.writer.add("ego", **row)
    for forecast in decision.forecasts:
        _add_forecast(capture, forecast, tick)
    for topic, detail in decision.debug.items():
        numbered = _numbered(capture, detail)
        row = {c.TICK: tick, c.TOPIC: topic, c.DETAIL: canonical_json(numbered)}
        capture.writer.add("debug", **row)


def _numbered(capture: EpisodeCapture, detail: Any) -> Any:
    """Replace actor ids by their numbers in the record: ids of a server differ from run to run."""
    if not isinstance(detail, dict) or not isinstance(detail.get("to"), list | tuple):
        return detail
    return {**detail, "to": [capture.number_of(int(actor)) for actor in detail["to"]]}


def _add_forecast(capture: EpisodeCapture, forecast: Forecast, tick: int) -> None:
    number = capture.number_of(forecast.actor_id)
    if number is None:
        return  # forecast for a person that was never seen
    for mode, weight in enumerate(forecast.weight):
        row: dict[str, Any] = {
            c.TICK: tick,
            c.ACTOR: number,
            c.SOURCE: forecast.source,
            c.MODE: mode,
            c.FRAME: "world",
            c.WEIGHT: float(weight),
            c.TIME_S: forecast.time_s.tolist(),
            c.X_M: forecast.mean_m[mode, :, 0].tolist(),
            c.Y_M: forecast.mean_m[mode, :, 1].tolist(),
        }
        if forecast.covariance_m2 is not None:
            spread = forecast.covariance_m2[mode]
            row[c.VAR_XX_M2] = spread[:, 0, 0].tolist()
            row[c.VAR_XY_M2] = spread[:, 0, 1].tolist()
            row[c.VAR_YY_M2] = spread[:, 1, 1].tolist()
        capture.writer.add("forecasts", **row)


def event_row(event: ScenarioEvent, number_of: Callable[[int], int | None]) -> dict[str, Any]:
    """Return the row of a scenario's event, without ids of the server, which differ between runs.

    Args:
        event: Its detail may name an ``actor``, or several ``actors``.
        number_of: Maps a server's actor id to the number in the record.
    """
    detail = dict(event.detail)
    row: dict[str, Any] = {c.NAME: event.name}
    if "actor" in detail:
        row[c.ACTOR] = number_of(detail.pop("actor"))
    if "actors" in detail:
        detail["actors"] = [number_of(actor) for actor in detail["actors"]]
    if detail:
        row[c.DETAIL] = canonical_json(detail)
    return row
