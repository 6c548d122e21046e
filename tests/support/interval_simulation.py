"""Simulations behind docs/reproductions/intervals.md: how often 95 % intervals miss the truth.

Run ``python tests/support/interval_simulation.py`` to print the values as JSON; with the path of
published Fail2Drive results as argument it also compares intervals on those.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from jaywalk.stats import bootstrap
from jaywalk.stats.clustered import clustered_rate, design_effect, success_difference
from jaywalk.stats.intervals import poisson_rate

Draw = Callable[[np.random.Generator, int], np.ndarray]
DISTRIBUTIONS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, k: rng.normal(size=k), 0.0),
    "difference of lognormals": (lambda rng, k: rng.lognormal(size=k) - rng.lognormal(size=k), 0.0),
    "exponential": (lambda rng, k: rng.exponential(size=k), 1.0),
    "score": (
        lambda rng, k: np.where(rng.random(k) < 0.8, 100.0, rng.uniform(0.0, 100.0, k)),
        90.0,
    ),
}
CLUSTERS = (2, 3, 5, 10, 20, 50)


def missed_by_means(name: str, clusters: int, trials: int, resamples: int = 1000) -> dict[str, Any]:
    """Percent of intervals of a mean without the truth: plain BCa and ours."""
    draw, truth = DISTRIBUTIONS[name]
    bounds = (0.0, 100.0) if name == "score" else (-np.inf, np.inf)
    rng = np.random.default_rng([clusters, trials])
    plain = ours = 0
    weights = next(bootstrap.multiplicities(np.random.default_rng(1), clusters, resamples))
    for _ in range(trials):
        values = draw(rng, clusters)
        ours += truth not in bootstrap.mean(values, resamples=resamples, bounds=bounds).interval
        low, high = _plain_bca(values, weights @ values / clusters)
        plain += not low <= truth <= high
    return {"bca": 100.0 * plain / trials, "ours": 100.0 * ours / trials}


def _plain_bca(values: np.ndarray, drawn: np.ndarray) -> tuple[float, float]:
    """BCa written out, without any correction for few clusters."""
    if np.ptp(values) == 0.0:
        return float(values[0]), float(values[0])
    left = values - values.mean()
    pull = float((left**3).sum()) / (6.0 * float((left**2).sum()) ** 1.5)
    share = np.mean(drawn < values.mean()) / 2 + np.mean(drawn <= values.mean()) / 2
    z0 = stats.norm.ppf(share)
    z = z0 + stats.norm.ppf([0.025, 0.975])
    low, high = np.quantile(drawn, stats.norm.cdf(z0 + z / (1.0 - pull * z)))
    return float(low), float(high)


def missed_by_rates(routes: int, shape: float, events: float, trials: int) -> dict[str, Any]:
    """Percent missed with gamma-Poisson counts by route, three seeds: exact Poisson and ours."""
    rng = np.random.default_rng([routes, round(10 * shape), round(10 * events)])
    clusters, truth = np.repeat(np.arange(routes), 3), events / 0.65
    plain = ours = 0
    for _ in range(trials):
        km = np.repeat(rng.uniform(0.3, 1.0, routes), 3) / 3
        counts = rng.poisson(np.repeat(rng.gamma(shape, 1.0 / shape, routes), 3) * truth * km)
        plain += truth not in poisson_rate(float(counts.sum()), float(km.sum()))
        ours += truth not in clustered_rate(counts, km, clusters)
    return {"poisson": 100.0 * plain / trials, "ours": 100.0 * ours / trials}


def missed_by_success_differences(clusters: int, trials: int) -> float:
    """Percent of intervals without 0 for two equal drivers; three seeds, routes of all sorts."""
    rng = np.random.default_rng(clusters)
    labels, missed = np.repeat(np.arange(clusters), 3), 0
    for _ in range(trials):
        chance = np.repeat(rng.beta(0.8, 0.2, clusters), 3)
        a, b = (rng.random(3 * clusters) < chance for _ in range(2))
        missed += 0.0 not in success_difference(a, b, labels).interval
    return 100.0 * missed / trials


def published(path: Path) -> dict[str, Any]:
    """Intervals of infractions per km of published results, against a bootstrap of routes."""
    from jaywalk.metrics.driving.results import INFRACTIONS, read_results

    found: dict[str, Any] = {}
    for method in read_results(path).methods:
        records = read_results(path, method).records
        km = np.nan_to_num([r.route_length_m * r.completion_percent / 1e5 for r in records])
        routes = [str(record.number) for record in records]
        codes, n = bootstrap.cluster_codes(routes)
        for key in INFRACTIONS:
            events = np.array([len(record.messages(key)) for record in records], float)
            if events.sum() < 5:
                continue
            sums = bootstrap.ratio_of_sums(np.bincount(codes, events), np.bincount(codes, km))
            blocks = bootstrap.multiplicities(np.random.default_rng(0), n, 10_000)
            low, high = np.quantile(np.concatenate([sums(w) for w in blocks]), [0.025, 0.975])
            plain, ours = poisson_rate(events.sum(), km.sum()), clustered_rate(events, km, routes)
            found[f"{method} {key}"] = {
                "events": int(events.sum()),
                "design_effect": round(design_effect(events, km, routes), 2),
                "bootstrap_over_poisson": round(float((high - low) / plain.width), 2),
                "ours_over_poisson": round(float(ours.width / plain.width), 2),
                "ours_over_bootstrap": round(float(ours.width / (high - low)), 2),
            }
    return found


def main(arguments: list[str], trials: int = 1000) -> dict[str, Any]:
    """All values."""
    values: dict[str, Any] = {
        "trials": trials,
        "means": {
            n: {str(k): missed_by_means(n, k, trials) for k in CLUSTERS} for n in DISTRIBUTIONS
        },
        "rates": {
            f"{k} routes, shape {s}, {e} events": missed_by_rates(k, s, e, trials)
            for k in (5, 10, 20, 100)
            for s in (0.5, 2.0)
            for e in (0.3, 3.0)
        },
        "success_differences": {str(k): missed_by_success_differences(k, trials) for k in CLUSTERS},
    }
    return values | ({"published": published(Path(arguments[0]))} if arguments else {})


def tables(values: dict[str, Any]) -> dict[str, Any]:
    """The same as the tables of docs/measurements/intervals.json."""

    def means(label: str, name: str, which: str) -> list[str]:
        return [label, *(f"{values['means'][name][str(k)][which]:.0f}" for k in CLUSTERS)]

    shown = [
        ("normal", "normal", "normal, ours"),
        ("difference of two heavy-tailed (lognormal) values", "difference of lognormals", ""),
        ("scores: 80 % are 100, the rest uniform", "score", ""),
        ("skewed (exponential)", "exponential", ""),
    ]
    rows = [
        row
        for label, name, ours in shown
        for row in (
            means(f"{label}, plain BCa", name, "bca"),
            means(ours or "the same, ours", name, "ours"),
        )
    ]
    success = [f"{values['success_differences'][str(k)]:.0f}" for k in CLUSTERS]
    return {
        "means": {
            "columns": [
                "95 % intervals that miss the truth, %",
                *map(str, CLUSTERS[:-1]),
                f"{CLUSTERS[-1]} clusters",
            ],
            "rows": [*rows, ["paired success, equal drivers, ours", *success]],
        },
        "rates": {
            "columns": [
                "gamma-Poisson events by route, three seeds: intervals that miss, %",
                "exact Poisson",
                "ours",
            ],
            "rows": [
                [f"{name} a route", f"{one['poisson']:.0f}", f"{one['ours']:.0f}"]
                for name, one in values["rates"].items()
            ],
        },
        "published": {
            "columns": [
                "published results, three seeds",
                "events",
                "design effect",
                "bootstrap / Poisson",
                "ours / Poisson",
                "ours / bootstrap",
            ],
            "rows": [
                [
                    "{} `{}`".format(*name.split()),
                    str(one["events"]),
                    f"{one['design_effect']:.1f}",
                    f"{one['bootstrap_over_poisson']:.2f}",
                    f"{one['ours_over_poisson']:.2f}",
                    f"{one['ours_over_bootstrap']:.2f}",
                ]
                for name, one in values.get("published", {}).items()
            ],
        },
    }


if __name__ == "__main__":
    found = main(sys.argv[1:])
    print(json.dumps({"tables": tables(found), "values": found}, indent=1))
