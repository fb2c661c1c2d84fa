"""What speaks against a card, by views that do not depend on each other, and what speaks for another cause."""

from supernoded_isolation.evidence.card_views import CARD_WATCHES, look_at_card
from supernoded_isolation.evidence.marks import Mark, follow
from supernoded_isolation.evidence.ranks import RANK_WATCHES, Job, Rank, list_jobs
from supernoded_isolation.evidence.words import JOB_VIEWS, Bounds, Evidence, find_blame, say

__all__ = [
    "CARD_WATCHES",
    "JOB_VIEWS",
    "RANK_WATCHES",
    "Bounds",
    "Evidence",
    "Job",
    "Mark",
    "Rank",
    "find_blame",
    "follow",
    "list_jobs",
    "look_at_card",
    "say",
]
