"""Decide whether a semantic query over streams runs in bounded memory, prove it, and run it.

setting = obda_bm.load_setting("obda.toml")
compiled = obda_bm.compile_sql("SELECT s.a FROM s WHERE s.a > 10", setting)
compiled.verdict        # Bounded | Unbounded | Undecided
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["Bounded", "Compiled", "ObdaError", "Semantics", "Setting", "Unbounded", "Undecided"]
__all__ += ["compile_query", "compile_sql", "load_mediator", "load_ontology", "load_setting"]
__all__ += ["rewrite", "run_local", "run_spark"]

if TYPE_CHECKING:
    from obda_bm.diagnostics import ObdaError
    from obda_bm.execution.local import run_local
    from obda_bm.execution.spark.run import run_spark
    from obda_bm.ir.spj import Semantics
    from obda_bm.ir.verdict import Bounded, Unbounded, Undecided
    from obda_bm.mediation import load_mediator
    from obda_bm.pipeline import (
        Compiled,
        compile_query,
        compile_sql,
        load_ontology,
        load_setting,
        rewrite,
    )
    from obda_bm.setting import Setting

_HOMES = {
    "load_mediator": "obda_bm.mediation",
    "ObdaError": "obda_bm.diagnostics",
    "Semantics": "obda_bm.ir.spj",
    "Bounded": "obda_bm.ir.verdict",
    "Unbounded": "obda_bm.ir.verdict",
    "Undecided": "obda_bm.ir.verdict",
    "Setting": "obda_bm.setting",
    "run_local": "obda_bm.execution.local",
    "run_spark": "obda_bm.execution.spark.run",
}


def __getattr__(name: str) -> Any:
    """Import on first use: `import obda_bm` costs nothing, whatever is installed."""
    if name not in __all__:
        raise AttributeError(f"module 'obda_bm' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "obda_bm.pipeline")), name)
