"""Closed form beside measurement, as one table."""

from .run import audit
from .table import Audit, Row

__all__ = ["Audit", "Row", "audit"]
