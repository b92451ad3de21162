"""UnionOfCQs x MappingSet -> SpjUnion, with how rows become RDF terms beside it."""

from obda_bm.unfolding.assertions import Assertion, Tables, assertions_of
from obda_bm.unfolding.layout import row_terms
from obda_bm.unfolding.tmappings import TMappings
from obda_bm.unfolding.unfold import Ranges, unfold
from obda_bm.unfolding.validate import Finding, Subject, validate

__all__ = ["Assertion", "Finding", "Ranges", "Subject", "TMappings", "Tables"]
__all__ += ["assertions_of", "row_terms", "unfold", "validate"]
