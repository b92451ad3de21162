"""SpjUnion -> Verdict: does the query run forever in bounded memory, and why."""

from obda_bm.analysis.assess import assess, find_witness
from obda_bm.analysis.describe import describe
from obda_bm.analysis.repair import suggest_repairs

__all__ = ["assess", "describe", "find_witness", "suggest_repairs"]
