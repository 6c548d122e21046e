"""``jaywalk bench``: measure."""

from __future__ import annotations

from typing import Annotated

import typer

from jaywalk.cli.output import finish, print_json, print_table, say

app = typer.Typer(help="Measure speed and memory, with the aims beside them.", no_args_is_help=True)


@app.callback()
def _benchmarks() -> None:
    """Measure speed and memory, with the aims beside them."""


@app.command()
def server(
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer ticks: a look.")] = False,
    town: Annotated[str, typer.Option(help="Where to measure.")] = "Harbour",
) -> None:
    """Ticks per second and CPU per tick of client and server, start-up and memory.

    Example: jaywalk bench server --json > bench.json
    """
    from jaywalk.bench.server import AIMS, bench_server

    result = bench_server(town=town, quick=quick, say=say)
    if as_json:
        print_json(result.as_dict())
        return
    rows = [
        [
            m.name, f"{m.ticks_per_s:.0f}",
            f"{m.client_cpu_ms_per_tick:.2f}", f"{m.server_cpu_ms_per_tick:.2f}",
        ]
        for m in (*result.scenes, *result.curve)
    ]  # fmt: skip
    print_table(["scene (vehicles+people)", "ticks/s", "client ms", "server ms"], rows)
    for name, value in result.reached().items():
        verdict = "ok" if value <= AIMS[name] else "MISSED"
        typer.echo(f"{name}: {value:.2f} (aim: at most {AIMS[name]:g}) {verdict}")
    finish(
        [
            f"cost per actor: {result.cost_per_actor_us:.2f} us of server CPU per tick",
            f"calibration loop: {result.calibration_ms:.1f} ms",
        ],
        "jaywalk bench server --json > bench.json  # keep it for comparison",
    )


@app.command()
def predict(
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """IRS with BCa intervals: 8 models, 4 horizons, 500 tracks, 10,000 resamples.

    Example: jaywalk bench predict --json
    """
    from jaywalk.bench.predict import AIM_S, bench_predict

    result = bench_predict()
    if as_json:
        print_json(result.as_dict())
        return
    verdict = "ok" if result.irs_s <= AIM_S else "MISSED"
    finish(
        [
            f"IRS with BCa, {result.models} models x {result.horizons} horizons, "
            f"{result.tracks} tracks, {result.samples} samples: {result.irs_s:.1f} s "
            f"(aim: at most {AIM_S:g}) {verdict}",
            f"calibration loop: {result.calibration_ms:.1f} ms",
        ],
        "jaywalk bench predict --json > bench.json  # keep it for comparison",
    )
