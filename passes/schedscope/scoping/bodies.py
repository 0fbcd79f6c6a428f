"""What the pass works out about one body, entered one way: its links, holders and sets.

A body is a scope together with the ids it was entered with. The ids it was entered with are the
ones its caller's group hands down (S2, S3): two calls of a function, one inside a group and one
outside, look at two bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from schedscope.callgraph import Scope, Site


class Fate(Enum):
    """Who gives a set its id."""

    PRIVATE = auto()
    """The body itself: its caller never sees the set."""
    EXPOSED = auto()
    """The caller, for whom the whole body is one holder of the id."""
    INHERITED = auto()
    """The caller, whose own group the set belongs to."""


@dataclass(eq=False, slots=True)
class Link:
    """A site and the body that it inlines."""

    site: Site
    body: Body
    bare: int | None = None
    """The id that the op at the site carries while nothing in the body does."""


@dataclass(eq=False, slots=True)
class Holder:
    """What counts as one when sets are formed: the body's own ops of an id, or one inlined body
    that exposes it."""

    group: int
    position: int
    link: Link | None = None
    """None for the body's own ops."""
    inherited: list[Link] = field(default_factory=list)
    """Bodies whose ops of the id count as the body's own."""

    @property
    def key(self) -> tuple[int, Link | None]:
        """What tells the holder from the others of its body."""
        return self.group, self.link


@dataclass(eq=False, slots=True)
class GroupSet:
    """Holders of one id that form one group."""

    group: int
    holders: list[Holder]
    fate: Fate = Fate.PRIVATE
    links: list[Link] = field(default_factory=list)
    """Every inlined body that has a part in it."""


@dataclass(eq=False, slots=True)
class Body:
    scope: Scope
    entered: frozenset[int]
    links: list[Link] = field(default_factory=list)
    """In program order."""
    tagged: dict[int, int] = field(default_factory=dict)
    """For each id that ops of the scope carry as their own, the first one's position."""
    sets: dict[int, list[GroupSet]] = field(default_factory=dict)
    """For each id its sets in program order."""
    handed_up: dict[int, GroupSet] = field(default_factory=dict)
    """For each id whose set the caller numbers, that set; in program order."""
    own: dict[int, GroupSet] = field(default_factory=dict)
    """For each id the set that holds the body's own ops."""
    of_link: dict[tuple[Link, int], GroupSet] = field(default_factory=dict)
    """The set that a linked body's exposed or inherited set of an id belongs to."""
    _private_sets: int | None = None
    _steps: list[int | Link | Body] | None = None
    computations: list[Body] = field(default_factory=list)
    """The regions in here that are computations of their own."""

    def numbers_itself(self) -> bool:
        """True where two instances of the body in one computation need different ids, whatever
        their callers give."""
        return self.private_sets() > 0

    def private_sets(self) -> int:
        """How many ids an instance of the body takes, those of the bodies inlined in it too."""
        if self._private_sets is None:
            count = 0
            for formed in self.sets.values():
                count += sum(each.fate is Fate.PRIVATE for each in formed)
            for link in self.links:  # no generator: a deep chain would nest them
                count += link.body.private_sets()
            self._private_sets = count
        return self._private_sets

    def steps(self) -> list[int | Link | Body]:
        """What gets ids, in program order: the body's own ops of an id, inlined bodies, and
        the regions that are computations of their own."""
        if self._steps is None:
            found: list[tuple[int, int, int | Link | Body]] = []
            found += [(position, 0, group) for group, position in self.tagged.items()]
            found += [(link.site.position, 1, link) for link in self.links]
            found += [(body.scope.position, 2, body) for body in self.computations]
            self._steps = [step for *_, step in sorted(found, key=lambda item: item[:2])]
        return self._steps
