"""How ``jaywalk score`` prints pairs: both halves, the change, categories, classes, reactions."""

from __future__ import annotations

from typing import Any

from jaywalk.cli.output import print_table, say


def print_gap(found: dict[str, Any]) -> None:
    """Every table of the pairs of a run or of result files."""
    proof = found.get("counterfactual")
    if found["headline"] == "strong" and proof is not None:
        say(f"headline over the {proof['strong']} strong pairs of {proof['checked']}")
    _print_halves(found)
    if found["headline"] == "strong" and found["all_pairs"]["base"] != found["base"]:
        say("over all pairs, as in the published protocol:")
        _print_halves(found["all_pairs"])
    if found["intervals"].get("few_clusters"):
        n = found["intervals"]["clusters"]
        say(f"warning: only {n} pairs, fewer than 20: intervals are widened, trust them little")
    if lonely := found["pairs"]["unpaired"]:
        say(f"only one half of {len(lonely)} pairs: {', '.join(lonely)}")
    print_table(
        ["", "", "base HM", "generalization HM", "change %", "95 % of the change", "n"],
        [
            [kind, _marked(name, values), *_hm_cells(values)]
            for kind, group in (("category", "categories"), ("class", "classes"))
            for name, values in found[group].items()
        ],
    )
    if proof is not None:
        print_table(
            ["counterfactual pairs", "of", "for a second or more", "on their start alone"],
            [[str(proof[key]) for key in ("passed", "checked", "strong", "weak")]],
        )
        for line in proof["failed"]:
            say(f"not a counterfactual: {line}")
        if proof["weak_pairs"]:
            names = ", ".join(f"{one['pair']} ({one['class']})" for one in proof["weak_pairs"])
            say(f"weak pairs, start only, not in the headline: {names}")
    _print_cues(found.get("cues") or [])
    if (robust := found.get("robustness")) and robust["all"]["n"]:
        _print_reactions(robust)


def _print_halves(found: dict[str, Any]) -> None:
    rows = []
    for half in ("base", "generalization", "change_percent"):
        values, bounds = found[half], found["intervals"][half]
        unit = "%" if half == "change_percent" else ""
        n = str(values["n"]) if "n" in values else ""
        ds, sr, hm = (with_interval(values[key], bounds[key], unit) for key in ("ds", "sr", "hm"))
        faster = "" if half == "change_percent" else number(values["ds_no_min_speed"])
        rows.append([half, ds, faster, sr, hm, n])
    print_table(["", "DS", "DS without minimum speed", "SR", "HM", "n"], rows)


def _marked(name: str, values: dict[str, Any]) -> str:
    """The name; a group of fewer than 20 pairs says so, its interval is widened."""
    return f"{name} (few pairs)" if values["intervals"].get("few_clusters") else name


def _hm_cells(values: dict[str, Any]) -> list[str]:
    figures = [number(values[key]) for key in ("base_hm", "generalization_hm", "change_percent")]
    low, high = (number(end) for end in values["intervals"]["change_percent"]["hm"])
    return [*figures, f"[{low}, {high}]", f"{values['base_n']}+{values['generalization_n']}"]


def _print_cues(cues: list[dict[str, Any]]) -> None:
    if not cues:
        return
    print_table(
        ["construction site without its cue", "base HM", "generalization HM", "change %", "n"],
        [
            [one["cue"], number(one["base"]["hm"]), number(one["generalization"]["hm"]),
             number(one["change_percent"]), f"{one['base']['n']}+{one['generalization']['n']}"]
            for one in cues
        ],
    )  # fmt: skip


def _print_reactions(robust: dict[str, Any]) -> None:
    columns = ["where no reaction was due", "speed change %", "slower by up to m/s",
               "needless brakings a route", "needless lane excursions a route", "n"]  # fmt: skip
    rows = []
    for name, values in [*robust["classes"].items(), ("all", robust["all"])]:
        cells = [
            with_interval(values[key]["value"], values[key]["interval"], digits=digits)
            for key, digits in (("speed_change_percent", 1), ("slowest_mps", 1),
                                ("brakings", 2), ("excursions", 2))
        ]  # fmt: skip
        rows.append([name, *cells, str(values["n"])])
    print_table(columns, rows)


def with_interval(
    value: float | None, interval: list[float | None], unit: str = "", digits: int = 1
) -> str:
    """A value with the ends of its interval."""
    low, high = (number(end, digits) for end in interval)
    return f"{number(value, digits)}{unit} [{low}, {high}]"


def number(value: float | None, digits: int = 1) -> str:
    """A number, or a dash where there is none."""
    return "-" if value is None else f"{value:z.{digits}f}"
