"""LLDP neighbours as SONiC prints them: `show lldp table`, columns under dashes and a count at the end."""

from __future__ import annotations

import re

from coldaisle.verify.seen import BAD_TEXT, Answer, Neighbour, Told, as_mac

HEAD = re.compile(r"^\s*LocalPort\s+RemoteDevice\s+RemotePortID\b", re.MULTILINE)
_COUNT = re.compile(r"Total entries displayed:\s*(\d+)")
_RULE = re.compile(r"^\s*-+(\s+-+)+\s*$")


def sonic(text: str, source: str, device: str) -> Answer:
    """Read the table of a SONiC switch. Without its count, or with fewer lines than that says, it was cut off."""
    lines = text.splitlines()
    rule = next((at for at, line in enumerate(lines) if _RULE.match(line)), len(lines))
    columns = [match.span() for match in re.finditer("-+", lines[rule])] if rule < len(lines) else []
    notes: list[str] = []
    rows = [_cells(line, columns) for line in lines[rule + 1 :] if _is_row(line)]
    neighbours = tuple(_neighbour(row, device, notes, source) for row in rows if row[0])
    count = _COUNT.search(text)
    whole = count is not None and int(count[1]) <= len(neighbours)
    if not whole:
        notes.append(f"{source}: the table of {device} was cut off after {len(neighbours)} lines")
    return Answer(source, "lldp", (Told(device),), neighbours, whole, tuple(notes))


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("---") and not _COUNT.search(line)


def _cells(line: str, columns: list[tuple[int, int]]) -> list[str]:
    """Return the cells of a line; a column reaches to the next one's begin, and the last to the line's end."""
    starts = [start for start, _ in columns]
    return [line[start:end].strip() for start, end in zip(starts, [*starts[1:], len(line) + 1], strict=True)]


def _neighbour(row: list[str], device: str, notes: list[str], source: str) -> Neighbour:
    local, name, port, *rest = row
    described = rest[-1] if len(rest) > 1 else ""
    mac = as_mac(port)
    texts = [text for text in ("" if mac else port, described) if text]
    kept = tuple(dict.fromkeys(text for text in texts if BAD_TEXT not in text))
    if BAD_TEXT in name + port + described:
        notes.append(f"{source}: {local}: the neighbour's text is no UTF-8 and was dropped")
    remote = Told(name if name and BAD_TEXT not in name else None, kept, (mac,) if mac else ())
    return Neighbour(Told(device, (local,)), remote)
