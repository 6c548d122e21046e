"""Basic parts that all rooms use: errors, registries, seeds, units, files and compiled kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.core.arrays import BoolArray as BoolArray
    from jaywalk.core.arrays import Float32Array as Float32Array
    from jaywalk.core.arrays import FloatArray as FloatArray
    from jaywalk.core.arrays import IntArray as IntArray
    from jaywalk.core.carla_enums import AttributeType as AttributeType
    from jaywalk.core.carla_enums import SemanticTag as SemanticTag
    from jaywalk.core.errors import DataError as DataError
    from jaywalk.core.errors import InfrastructureError as InfrastructureError
    from jaywalk.core.errors import JaywalkError as JaywalkError
    from jaywalk.core.errors import PrerequisiteError as PrerequisiteError
    from jaywalk.core.errors import RegistryError as RegistryError
    from jaywalk.core.errors import UsageError as UsageError
    from jaywalk.core.registry import Registry as Registry
    from jaywalk.core.registry import Spec as Spec
    from jaywalk.core.registry import load_plugins as load_plugins
    from jaywalk.core.seeds import derive_seed as derive_seed
    from jaywalk.core.seeds import stream as stream

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "arrays": (
            "BoolArray",
            "Float32Array",
            "FloatArray",
            "IntArray",
        ),
        "carla_enums": (
            "AttributeType",
            "SemanticTag",
        ),
        "errors": (
            "DataError",
            "InfrastructureError",
            "JaywalkError",
            "PrerequisiteError",
            "RegistryError",
            "UsageError",
        ),
        "registry": (
            "Registry",
            "Spec",
            "load_plugins",
        ),
        "seeds": (
            "derive_seed",
            "stream",
        ),
    },
)
