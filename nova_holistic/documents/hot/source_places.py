# SPDX-License-Identifier: Apache-2.0
"""Report the mistakes in a group document that was created from a template
with their positions in the template."""

from collections.abc import Iterator
import contextlib
from dataclasses import replace

from nova_holistic.documents.hot.nested_stack import NestedStack
from nova_holistic.documents.validation import join
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.group import Group


class SourcePlaces:
    """Positions in a group document, with their origins in the template."""

    def __init__(self):
        self._origin: dict[str, str] = {}

    def add(self, place: str, origin: str) -> None:
        """Register an origin. All parts below the position come from below
        this origin, except for added parts."""
        self._origin[place] = origin

    def copy(self, place: str, stack: NestedStack) -> None:
        """Add the positions of the template of nested stacks.

        :param place: position of their group in the document
        """
        inner = stack.conversion.places._origin
        bases = [place]
        if stack.use.count is not None:
            bases = [join(place, 'groups', number)
                     for number in range(stack.use.count)]
        for base in bases:
            for inside, origin in inner.items():
                self._origin[f'{base}.{inside}'] = f'{stack.shown}: {origin}'

    def origin(self, place: str) -> str:
        """The position in the template, or the nearest known position around
        it."""
        cut = len(place)
        while cut > 0:
            if place[:cut] in self._origin:
                return self._origin[place[:cut]] + place[cut:]
            cut = max(place.rfind('.', 0, cut), place.rfind('[', 0, cut))
        return place

    @contextlib.contextmanager
    def errors_at_origin(self) -> Iterator[None]:
        """Errors in this context are reported at their positions of origin."""
        try:
            yield
        except InvalidDocument as error:
            raise InvalidDocument(
                self.origin(error.place), error.message,
                [InvalidDocument(self.origin(each.place), each.message)
                 for each in error.more]) from None

    def moved(self, group: Group) -> Group:
        """The group with the positions of origin of its parts."""
        return replace(
            group,
            place=self.origin(group.place),
            members=tuple(replace(m, place=self.origin(m.place))
                          for m in group.members),
            groups=tuple(self.moved(g) for g in group.groups),
            policies=tuple(replace(p, place=self.origin(p.place))
                           for p in group.policies),
            relationships=tuple(replace(r, place=self.origin(r.place))
                                for r in group.relationships))
