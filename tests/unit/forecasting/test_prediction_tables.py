"""The writers of the two tables, on the published values of Herman et al."""

import pytest

from jaywalk.core.errors import UsageError
from jaywalk.forecasting.evaluate import table_of_metrics, table_of_optimal_sets
from jaywalk.metrics.prediction.pairwise import OptimalSet
from jaywalk.stats.bootstrap import Estimate
from jaywalk.stats.intervals import Interval

# Model, upper ends, estimates, lower ends; each IRS (%), NLL, ADE (m) at 1, 2, 3, 4 s.
PUBLISHED = """
motion
96.5 86.1 87.8 86.3 0.18 1.59 2.47 3.21 0.54 1.12 1.77 2.54
96.1 84.6 85.4 82.6 0.13 1.54 2.39 3.10 0.53 1.10 1.73 2.48
95.5 82.8 82.6 77.4 0.08 1.46 2.28 2.92 0.52 1.08 1.70 2.41
motion+egodist
97.8 89.6 91.1 85.3 -0.10 1.33 2.22 2.99 0.50 1.05 1.68 2.45
97.4 88.0 89.0 82.2 -0.14 1.27 2.14 2.88 0.49 1.03 1.64 2.39
96.9 86.4 86.9 76.8 -0.20 1.19 2.02 2.69 0.48 1.01 1.61 2.32
motion+head&body
98.2 91.3 91.0 88.2 0.09 1.50 2.39 3.13 0.52 1.11 1.77 2.55
97.7 89.7 89.1 84.6 0.05 1.45 2.32 3.04 0.51 1.09 1.74 2.49
97.3 88.2 87.1 80.1 0.00 1.39 2.22 2.88 0.50 1.07 1.70 2.43
motion+egodist+head&body
98.4 92.2 92.1 89.7 -0.13 1.29 2.17 2.91 0.48 1.02 1.62 2.35
98.1 91.0 90.8 86.8 -0.18 1.23 2.09 2.81 0.47 0.99 1.58 2.29
97.7 89.4 88.5 82.2 -0.23 1.15 1.99 2.62 0.46 0.97 1.55 2.23
motion+map
98.3 92.1 92.6 93.7 -0.02 1.30 2.11 2.81 0.52 1.04 1.59 2.25
97.9 90.7 90.6 91.2 -0.06 1.25 2.04 2.71 0.50 1.01 1.55 2.19
97.4 89.1 88.8 88.1 -0.11 1.18 1.94 2.57 0.49 0.99 1.52 2.13
motion+map+egodist
98.4 93.3 92.5 89.8 -0.19 1.16 2.00 2.72 0.48 0.98 1.53 2.19
98.0 92.2 90.4 87.2 -0.24 1.10 1.91 2.61 0.47 0.96 1.50 2.13
97.6 90.5 88.5 82.3 -0.29 1.02 1.79 2.42 0.46 0.94 1.46 2.06
motion+map+head&body
98.3 93.4 94.1 95.8 -0.07 1.25 2.05 2.77 0.49 1.00 1.54 2.22
98.0 92.2 92.6 93.4 -0.11 1.19 1.98 2.69 0.48 0.97 1.50 2.16
97.6 90.6 91.1 90.7 -0.15 1.13 1.89 2.56 0.47 0.95 1.47 2.10
motion+map+egodist+head&body
98.9 94.5 94.0 95.3 -0.21 1.11 1.94 2.65 0.48 0.97 1.51 2.18
98.5 93.5 92.7 93.3 -0.26 1.05 1.86 2.55 0.47 0.95 1.47 2.12
98.2 92.1 90.8 90.0 -0.31 0.98 1.76 2.37 0.46 0.93 1.44 2.05
"""
HORIZONS_S = (1.0, 2.0, 3.0, 4.0)


def published():
    lines = PUBLISHED.strip().splitlines()
    for start in range(0, len(lines), 4):
        yield lines[start], [line.split() for line in lines[start + 1 : start + 4]]


def estimates(parts):
    highs, values, lows = ([float(x) for x in part] for part in parts)
    columns = {}
    for i, (metric, factor) in enumerate((("irs", 0.01), ("nll", 1.0), ("ade", 1.0))):
        columns[metric] = [
            Estimate(
                factor * values[j], Interval(factor * lows[j], factor * highs[j], 0.5), 500, None
            )
            for j in range(4 * i, 4 * i + 4)
        ]
    return columns


def test_table_of_metrics():
    rows = list(published())
    assert len(rows) == 8
    header, *table = table_of_metrics({n: estimates(p) for n, p in rows}, HORIZONS_S)
    assert header[2:6] == ["IRS (%) 1 s", "IRS (%) 2 s", "IRS (%) 3 s", "IRS (%) 4 s"]
    for number, (name, parts) in enumerate(rows):
        three = table[3 * number : 3 * number + 3]
        assert three[0][:2] == [str(number + 1), name]
        assert [row[2:] for row in three] == parts
        # The rows are upper end, estimate, lower end.
        assert all(float(a) >= float(b) >= float(c) for a, b, c in zip(*parts, strict=True))


def test_missing_values_and_columns():
    columns = estimates(next(published())[1])
    nothing = Estimate(float("nan"), Interval(float("nan"), float("nan"), 0.5), 0, None)
    table = table_of_metrics({"m": {**columns, "irs": [nothing] * 4}}, HORIZONS_S)
    assert table[2][2] == "-"
    with pytest.raises(UsageError, match="lacks irs"):
        table_of_metrics({"m": {**columns, "irs": []}}, HORIZONS_S)


def test_table_of_optimal_sets():
    best = [OptimalSet(chosen=n, candidates=(n,)) for n in ("a", "b")]
    assert table_of_optimal_sets({"irs": best, "nll": best[::-1]}, (1.0, 2.0)) == [
        ["", "IRS", "NLL"],
        ["1 s", "a", "b"],
        ["2 s", "b", "a"],
    ]
