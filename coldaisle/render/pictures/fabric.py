"""
The picture of a fabric: its tiers from the top down, its groups of leaves side by side, and its rails as lines of them.

A line is a bundle of cables with its count, so that a pod of 32 leaves is read at a glance; with more leaves than a
sheet shows, a group is one box.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from coldaisle.plan.model import FabricPlan, SwitchPlan
from coldaisle.render.pictures.canvas import FAINT, LARGE, SMALL, Sheet, first_to_last, fitting
from coldaisle.render.pictures.fabric_parts import Bundle, Group, Parts, Pod, parts_of
from coldaisle.units import counted

MARGIN, HEAD, RAILS = 20, 66, 70
"""Pixels: margin, height of the heading, and room at the left for the trunk and the names of rails."""
COLUMN, GAP, WIDEST = 152, 14, 1340
"""Least width of a group, the gap beside it, and the widest line of groups; more of them go on below."""
BOX, LEAF, BUS, LINES = 34, 22, 34, 48
"""Heights of a box of two lines, of a leaf, of the room for a bus, and of a group that is one box."""
SHOWN_LEAVES, SHOWN_UPPER = 96, 32
"""Most leaves that are drawn one by one, and most switches of an upper tier."""
UPPER, COUNTS = 79, 68
"""Least width of a switch of an upper tier, and room for a leaf's counts of cables."""
BELOW = "#eef4fb"
LETTER = 6.6
"""Width of a bold letter of the smallest size, in pixels."""


def fabric_diagram(fabric: FabricPlan) -> str:
    """Return the picture of a fabric as SVG."""
    return _Diagram(parts_of(fabric)).draw()


class _Diagram:
    """One picture in the making; `top` is how far down it is drawn."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.whole = parts.leaves <= SHOWN_LEAVES
        self.column = max(COLUMN, self._longest("leaf", "oob") * LETTER + COUNTS) if self.whole else COLUMN
        self.upper = max(UPPER, self._longest("core", "spine") * LETTER + 8)
        most = max((len(pod.groups) for pod in parts.pods), default=1)
        self.abreast = int((WIDEST + GAP) // (self.column + GAP))
        self.band = max(4, min(self.abreast, most)) * (self.column + GAP) - GAP
        self.left = MARGIN + RAILS
        self.top: float = HEAD
        self.sheet = self._sheet()

    # -- sizes --------------------------------------------------------------------------------------------------
    def _longest(self, *roles: str) -> int:
        return max((len(switch.name) for switch in self.parts.fabric.switches if switch.role in roles), default=0)

    def _rows(self, pod: Pod) -> Iterator[Sequence[Group]]:
        yield from (pod.groups[at : at + self.abreast] for at in range(0, len(pod.groups), self.abreast))

    def _sheet(self) -> Sheet:
        fabric = self.parts.fabric
        height = HEAD + MARGIN + sum(self._pod_height(pod) for pod in self.parts.pods)
        if self.parts.cores:
            height += self._upper_height(self.parts.cores) + GAP
        counts = Counter(switch.role for switch in fabric.switches)
        return Sheet(
            f"fabric-{fabric.name}",
            (self.left + self.band + MARGIN, height),
            f"Fabric {fabric.name} by tier and rail",
            f"{fabric.kind}, {', '.join(f'{count} {role}' for role, count in counts.items())} switches, "
            f"{counted(len(fabric.cables), 'cable')}. Tiers from the top down; groups of leaves side by side, a line "
            "a rail; lines between boxes are bundles of cables with their counts.",
        )

    def _folded(self, switches: Sequence[SwitchPlan]) -> bool:
        """Tell whether the switches of an upper tier are one box."""
        return not self.whole or len(switches) > SHOWN_UPPER

    def _upper_height(self, switches: Sequence[SwitchPlan]) -> float:
        if not switches:
            return 0
        lines = 1 if self._folded(switches) else -(-len(switches) // self._upper_abreast())
        return lines * (BOX + 4)

    def _upper_abreast(self) -> int:
        return max(1, int((self.band + 4) // (self.upper + 4)))

    def _row_height(self, groups: Sequence[Group]) -> float:
        tallest = max(len(group.leaves) for group in groups) * LEAF + 22 if self.whole else LINES
        return BUS + tallest + (BUS + BOX if self.whole else 0) + 6

    def _pod_height(self, pod: Pod) -> float:
        return self._upper_height(pod.spines) + sum(self._row_height(groups) for groups in self._rows(pod)) + 8

    # -- drawing ------------------------------------------------------------------------------------------------
    def draw(self) -> str:
        """Draw everything, from the top down."""
        fabric = self.parts.fabric
        rails = f", {counted(fabric.rails, 'rail')}" if fabric.rails > 1 else ""
        planes = f", {counted(fabric.planes, 'plane')}" if fabric.planes > 1 else ""
        title = f"{fabric.name}: {fabric.kind}, {fabric.topology}{rails}{planes}"
        self.sheet.text(title, (MARGIN, 26), LARGE, bold=True)
        words = "lines are bundles of cables; in a switch: cables down \N{DOWNWARDS ARROW} and up \N{UPWARDS ARROW}"
        self.sheet.text(words, (MARGIN, 46), SMALL)
        crown = self.top + BOX / 2
        if self.parts.cores:
            self._upper(self.parts.cores, "")
            self.top += GAP
        for pod in self.parts.pods:
            self._pod(pod, crown)
        return self.sheet.svg()

    def _pod(self, pod: Pod, crown: float) -> None:
        """Draw a pod: its spines, then its groups row by row on buses that hang on them."""
        stem, middle = self.left - 8, self.top + BOX / 2
        if pod.up:
            trunk = MARGIN + 6
            self.sheet.line(
                [(self.left, crown), (trunk, crown), (trunk, middle), (self.left, middle)], thick=3, ink=FAINT
            )
        up = f", {pod.up.label} up to {counted(len(self.parts.cores), 'core')}" if pod.up else ""
        self._upper(pod.spines, f"{pod.name}: " if len(self.parts.pods) > 1 else "", up)
        for groups in self._rows(pod):
            if pod.spines:
                bus = self.top + 8
                end = self.left + (len(groups) - 1) * (self.column + GAP) + self.column / 2
                self.sheet.line([(self.left, middle), (stem, middle), (stem, bus), (end, bus)], thick=2)
            self._row(groups)
        self.top += 8

    def _upper(self, switches: Sequence[SwitchPlan], before: str, behind: str = "") -> None:
        """Draw the switches of an upper tier, one by one or as one box with words before and behind their names."""
        if not switches:
            return
        if self._folded(switches):
            self._fold(switches, before, behind)
        for number, switch in enumerate(() if self._folded(switches) else switches):
            down, across = divmod(number, self._upper_abreast())
            self._switch(switch, (self.left + across * (self.upper + 4), self.top + down * (BOX + 4)))
        self.top += self._upper_height(switches)

    def _fold(self, switches: Sequence[SwitchPlan], before: str, behind: str) -> None:
        names = _ends_of([switch.name for switch in switches])
        counts = dict.fromkeys(self._counts(switch) for switch in switches)
        words = (
            f"{before}{counted(len(switches), switches[0].role)} {names}",
            f"{' or '.join(counts)} each{behind}",
        )
        self.sheet.box((self.left, self.top), (self.band, BOX), tip=", ".join(words))
        for line, text in enumerate(words):
            at = (self.left + self.band / 2, self.top + 14 + 13 * line)
            self.sheet.text(fitting(text, self.band - 8, SMALL), at, SMALL, anchor="middle", bold=not line)

    def _switch(self, switch: SwitchPlan, corner: tuple[float, float]) -> None:
        middle, y = corner[0] + self.upper / 2, corner[1]
        self.sheet.box(corner, (self.upper, BOX), tip=_tip(switch))
        self.sheet.text(switch.name, (middle, y + 14), SMALL, anchor="middle", bold=True)
        self.sheet.text(self._counts(switch), (middle, y + 27), SMALL, anchor="middle")

    def _counts(self, switch: SwitchPlan) -> str:
        up = self.parts.up[switch.name]
        down = f"{self.parts.down[switch.name]} \N{DOWNWARDS ARROW}"
        return f"{down} {up} \N{UPWARDS ARROW}" if up else down

    def _row(self, groups: Sequence[Group]) -> None:
        """Draw groups side by side; leaves of one rail stand on one line, which is named at the left."""
        top = self.top + BUS
        if self.whole:
            self._rails(groups, top)
        for at, group in enumerate(groups):
            x = self.left + at * (self.column + GAP)
            if group.up:
                self._bundle(group.up, (x + self.column / 2, self.top + 8), top)
            (self._leaves if self.whole else self._box)(group, x, top)
        self.top += self._row_height(groups)

    def _bundle(self, bundle: Bundle, start: tuple[float, float], end: float) -> None:
        self.sheet.line([start, (start[0], end)], thick=2)
        self.sheet.text(bundle.label, (start[0] + 6, (start[1] + end) / 2 + 6), SMALL)

    def _rails(self, groups: Sequence[Group], top: float) -> None:
        longest = max(groups, key=lambda group: len(group.leaves))
        for at, leaf in enumerate(longest.leaves):
            if leaf.rail is not None:
                words = f"{'' if leaf.plane is None else f'p{leaf.plane} '}rail {leaf.rail}"
                place = (self.left - 18, top + 22 + at * LEAF + 15)
                self.sheet.text(words, place, SMALL, anchor="end", ink=FAINT)

    def _leaves(self, group: Group, x: float, top: float) -> None:
        """Draw a group leaf by leaf, and below it what hangs on it."""
        height = 22 + len(group.leaves) * LEAF
        middle, below = x + self.column / 2, top + height
        self.sheet.box((x, top), (self.column, height), tip=_title(group))
        title = group.name if len(group.leaves) > 1 else group.leaves[0].model
        self.sheet.text(fitting(title, self.column - 8, SMALL), (middle, top + 15), SMALL, anchor="middle", ink=FAINT)
        for at, leaf in enumerate(group.leaves):
            y = top + 22 + at * LEAF
            self.sheet.box((x, y), (self.column, LEAF), tip=_tip(leaf))
            self.sheet.text(leaf.name, (x + 6, y + 15), SMALL, bold=True)
            self.sheet.text(self._counts(leaf), (x + self.column - 6, y + 15), SMALL, anchor="end")
        self._bundle(group.down, (middle, below), below + BUS)
        self.sheet.box((x, below + BUS), (self.column, BOX), fill=BELOW, tip=f"on {_title(group)}")
        self._centred(counted(len(group.devices), "device"), (middle, below + BUS + 14), bold=True)
        self._centred(_ends_of(group.devices), (middle, below + BUS + 27))

    def _centred(self, words: str, at: tuple[float, float], *, bold: bool = False) -> None:
        self.sheet.text(fitting(words, self.column - 8, SMALL), at, SMALL, anchor="middle", bold=bold)

    def _box(self, group: Group, x: float, top: float) -> None:
        """Draw a group as one box: its leaves, what hangs on it, and the cables to that."""
        middle = x + self.column / 2
        self.sheet.box((x, top), (self.column, LINES), tip=_title(group))
        self._centred(_ends_of([leaf.name for leaf in group.leaves]), (middle, top + 14), bold=True)
        self._centred(f"{counted(len(group.devices), 'device')}, {group.down.label}", (middle, top + 28))
        self._centred(_ends_of(group.devices), (middle, top + 41))


def _tip(switch: SwitchPlan) -> str:
    place = f"{switch.rack} U{switch.rack_unit}" if switch.rack else "no place"
    return f"{switch.name}: {switch.model}, {place}, {switch.ports_used} of {switch.ports} ports"


def _title(group: Group) -> str:
    leaves = _ends_of([leaf.name for leaf in group.leaves])
    return f"{group.name}: {counted(len(group.leaves), 'leaf', 'leaves')} {leaves}"


def _ends_of(names: Sequence[str]) -> str:
    """Return the first and the last of names, in their order."""
    return first_to_last(dict.fromkeys((names[0], names[-1]))) if names else "none"
