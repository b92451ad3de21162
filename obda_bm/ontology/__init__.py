"""OWL files -> TBox, with a report of what OWL 2 QL does not have."""

from obda_bm.ontology.load import Ontology, Profile, read_ontology

__all__ = ["Ontology", "Profile", "read_ontology"]
