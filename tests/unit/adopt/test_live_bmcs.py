"""BMCs asked live: a server that speaks Redfish on the loopback, and answers that a simulated BMC gave, read again."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from coldaisle.adopt.facts import Untold
from coldaisle.adopt.live.bmcs import RedfishLive
from coldaisle.adopt.outcome import Outcome, with_untold
from coldaisle.adopt.readers import redfish
from tests.unit.playbooks.fake_redfish import CHASSIS, PASSWORD, USER, Machine, serve
