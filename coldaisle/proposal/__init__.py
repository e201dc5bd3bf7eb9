"""
Proposals: where a pool could go, and how much more a hall can take.

A proposal is advice for the person who writes the spec. It moves nothing that is placed, and nothing after the plan
reads it: only what somebody pastes into the spec counts.
"""

from coldaisle.proposal.headroom import room
from coldaisle.proposal.placing import propose
from coldaisle.proposal.records import Limit, Proposal, Room, Want
from coldaisle.proposal.wants import wanted

__all__ = ["Limit", "Proposal", "Room", "Want", "propose", "room", "wanted"]
