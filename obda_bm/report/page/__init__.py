"""An explanation as one self-contained HTML page: no network, no scripts, light and dark."""

from obda_bm.report.page.document import explanation_as_html, notebook_cell

__all__ = ["explanation_as_html", "notebook_cell"]
