"""Closed form beside measurement, as one table."""

from .report import Audit, Row
from .run import audit

__all__ = ["Audit", "Row", "audit"]
