"""Making facts true and reading each back, on the host."""

from __future__ import annotations

from ansible_collections.coldaisle.site.plugins.module_utils.facts import different, fact_of, read_facts
from ansible_collections.coldaisle.site.plugins.module_utils.host import Context, FactError, forget, wait_until

FOLLOW_TIMEOUT_S = 15
"""How long a port may take from its address until its peer answers, with a margin for slow links."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    """Settle the facts; the result has what did not fit, and `failed` where something still does not."""
    planned: dict[str, Any] = params["facts"]
    seen, errors = read_facts(planned)
    names = different(planned, seen)
    changes = _changes(names, planned, seen, errors)
    result: dict[str, Any] = {"changed": bool(names), "changes": changes, "facts": seen, "diff": _diff(changes)}
    fixed = [change for change in changes if _is_fixed(str(change["fact"]), in_check_mode=check)]
    if fixed:
        return {**result, "failed": True, "msg": _message(fixed)}
    if not names or check:
        return result
    problems = _set_all(planned, names, Context(links={link["name"]: link for link in params["links"]}))
    result["facts"], errors = _read_back(planned, names)
    left = different(planned, result["facts"])
    if left:
        still = _changes(left, planned, result["facts"], {**errors, **problems}, why_first=True)
        return {**result, "failed": True, "msg": _message(still)}
    return result


def _changes(
    names: list[str], planned: dict[str, Any], seen: dict[str, Any], why: dict[str, str], *, why_first: bool = False
) -> list[dict[str, Any]]:
    """Return each fact with what was seen of it, or why it could not be read or set."""
    sources = (why, seen) if why_first else (seen, why)
    return [
        {"fact": name, "seen": sources[0].get(name, sources[1].get(name)), "planned": planned[name]} for name in names
    ]


def _diff(changes: list[dict[str, Any]]) -> dict[str, str]:
    sides = {"before": "seen", "after": "planned"}
    return {side: "".join(f"{it['fact']} = {it[key]}\n" for it in changes) for side, key in sides.items()}


def _is_fixed(name: str, *, in_check_mode: bool) -> bool:
    """Tell whether nothing that this role does makes the fact true; in check mode, files were not written yet."""
    fact, _rest = fact_of(name)
    return fact.set is None and not fact.follows and not (fact.from_files and in_check_mode)


def _read_back(planned: dict[str, Any], names: list[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """
    Read every fact again; what follows from others is given the time that a link takes to come up.

    Where nothing was set, nothing will come. The last look at followers is their reading: GIDs are a thousand files.
    """
    followers = {name: planned[name] for name in planned if fact_of(name)[0].follows}
    if not followers or all(fact_of(name)[0].set is None for name in names):
        return read_facts(planned)
    looks: list[tuple[dict[str, Any], dict[str, str]]] = []

    def settled() -> bool:
        looks.append(read_facts(followers))
        return not different(followers, looks[-1][0])

    wait_until(settled, FOLLOW_TIMEOUT_S, interval_s=1)
    (facts, errors), (others, why) = looks[-1], read_facts(name for name in planned if name not in followers)
    return others | facts, why | errors


def _set_all(planned: dict[str, Any], names: list[str], context: Context) -> dict[str, str]:
    """Set each fact; one that cannot be set does not keep the others from it. Return what went wrong."""
    problems = {}
    for name in names:
        fact, rest = fact_of(name)
        try:
            if fact.set:
                fact.set(rest, planned[name], context)
        except (FactError, OSError) as error:
            problems[name] = str(error)
        forget()
    return problems


def _message(changes: list[dict[str, Any]]) -> str:
    """Return one sentence a fact: what it is, what it should be, and what to look at."""
    said = []
    for change in changes:
        hint = fact_of(change["fact"])[0].hint
        look = f" (look at {hint})" if hint else ""
        said.append(f"{change['fact']} is {change['seen']}, planned {change['planned']}{look}")
    return "; ".join(said)
