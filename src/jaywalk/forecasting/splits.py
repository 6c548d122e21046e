"""Splits of scenes for training, validation and test: whole scenes, never tracks.

People of one scene see each other and the same vehicle, so a split by track would leak.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from jaywalk.core.errors import UsageError
from jaywalk.core.seeds import derive_seed
from jaywalk.datasets.trajectories import Trajectories

SHARES: Final = {"test": 0.3, "validation": 0.1, "train": 0.6}


def split_scenes(strata: Mapping[str, str]) -> dict[str, str]:
    """Split scenes by largest remainder within each stratum, in the order of their name's hash.

    If a split would be empty although there are enough scenes, strata are ignored and every split
    gets at least one scene.

    Args:
        strata: Stratum of each scene, e.g. its course or its source.
    """
    splits = {}
    for stratum in sorted(set(strata.values())):
        scenes = [name for name, one in strata.items() if one == stratum]
        splits.update(_dealt(scenes, largest_remainder(len(scenes), SHARES)))
    if len(strata) >= len(SHARES) and set(splits.values()) != set(SHARES):
        rest = largest_remainder(len(strata) - len(SHARES), SHARES)
        splits = _dealt(list(strata), {name: 1 + count for name, count in rest.items()})
    return splits


def _dealt(scenes: list[str], counts: Mapping[str, int]) -> dict[str, str]:
    """Return the split of each scene, with the given number of scenes per split."""
    order = sorted(scenes, key=lambda name: derive_seed(0, "predict", "split", name))
    names = [split for split, count in counts.items() for _ in range(count)]
    return dict(zip(order, names, strict=True))


def largest_remainder(total: int, shares: Mapping[str, float]) -> dict[str, int]:
    """Return integers in the given proportions that add up to ``total``."""
    exact = {name: total * share for name, share in shares.items()}
    counts = {name: int(np.floor(value + 1e-9)) for name, value in exact.items()}
    order = sorted(shares, key=lambda name: counts[name] - exact[name])
    for name in order[: total - sum(counts.values())]:
        counts[name] += 1
    return counts


def splits_of(data: Trajectories) -> dict[str, str]:
    """Return the split of every scene: from the data, else a new one stratified by source."""
    named = data.meta.filter(pl.col("split").is_not_null()).select("scene_id", "split").unique()
    if len(named):
        doubled = named.filter(named["scene_id"].is_duplicated())
        if len(doubled):
            raise UsageError(f"scene '{doubled['scene_id'][0]}' is in two splits")
        return dict(zip(named["scene_id"], named["split"], strict=True))
    sources = data.tracks.select("scene_id", "source").unique(subset="scene_id").sort("scene_id")
    return split_scenes(
        {scene: source or "" for scene, source in zip(*sources.get_columns(), strict=True)}
    )


def of_split(data: Trajectories, split: str) -> Trajectories:
    """Return the scenes of one split."""
    splits = splits_of(data)
    scenes = [scene for scene, one in splits.items() if one == split]
    if not scenes:
        known = ", ".join(sorted(set(splits.values()))) or "none"
        raise UsageError(
            f"no scene is in the split '{split}'; there are: {known}. Export at least "
            f"{len(SHARES)} scenes, so that each split gets one."
        )
    return Trajectories(
        tracks=data.tracks.filter(pl.col("scene_id").is_in(scenes)),
        ego=data.ego.filter(pl.col("scene_id").is_in(scenes)),
        meta=data.meta.filter(pl.col("scene_id").is_in(scenes)),
        paths={key: path for key, path in data.paths.items() if key[0] in set(scenes)},
        maps=data.maps,
        stride=data.stride,
        excluded=data.excluded,
    )
