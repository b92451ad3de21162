"""The setting file: which streams and relations there are, and where everything else lies."""

from obda_bm.setting.read import Setting, read_setting
from obda_bm.setting.tables import CheckText

__all__ = ["CheckText", "Setting", "read_setting"]
