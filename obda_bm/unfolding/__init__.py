"""UnionOfCQs x MappingSet -> SpjUnion, with how rows become RDF terms beside it."""

from obda_bm.unfolding.assertions import Assertion, Tables, assertions_of
from obda_bm.unfolding.tmappings import TMappings
from obda_bm.unfolding.unfold import Ranges, unfold

__all__ = ["Assertion", "Ranges", "TMappings", "Tables", "assertions_of", "unfold"]
