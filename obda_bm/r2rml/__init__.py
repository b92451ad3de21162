"""R2RML and Ontop's native mappings -> MappingSet, with file and line for every part."""

from obda_bm.r2rml.load import load_mappings

__all__ = ["load_mappings"]
