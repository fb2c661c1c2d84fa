"""The table of a UPS's flags, and how a row of it is found."""

from supernoded_power.status.matching import SOURCES, find_row, list_matches
from supernoded_power.status.table import KNOWN, ROWS, SILENT, STRANGER, Row, Source

__all__ = ["KNOWN", "ROWS", "SILENT", "SOURCES", "STRANGER", "Row", "Source", "find_row", "list_matches"]
