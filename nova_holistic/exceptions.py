# SPDX-License-Identifier: Apache-2.0
"""The base classes of the errors of this project."""

from collections.abc import Iterable, Iterator
import contextlib


class HolisticError(Exception):
    """Base of the project's own errors.

    The text is written for the operator: it may name hosts, services and
    files. Users read only the texts of the classes that ``api.errors``,
    ``engine.reasons`` and ``scheduler.claim.request_refusal`` list.
    """


class InvalidDocument(HolisticError):
    """A document cannot be accepted.

    :param place: position in the document, e.g.
    ``groups[1].policies[0].level``; empty for the document as a whole
    :param message: description of the mistake in one line
    :param more: further mistakes in the same document
    """

    def __init__(self, place: str, message: str,
                 more: Iterable['InvalidDocument'] = ()):
        self.place = place
        self.message = message
        self.more = tuple(more)
        super().__init__(f'{place}: {message}' if place else message)

    @property
    def mistakes(self) -> tuple['InvalidDocument', ...]:
        """This mistake and the further mistakes."""
        return (self, *self.more)

    def inside(self, place: str) -> 'InvalidDocument':
        """The same mistakes; those of the document as a whole are at the
        given position."""
        first, *more = (InvalidDocument(each.place or place, each.message)
                        for each in self.mistakes)
        return InvalidDocument(first.place, first.message, more)


class Mistakes:
    """Collects the mistakes of one document, to report them together."""

    MOST = 100
    """Maximum number of mistakes that are reported for one document."""

    def __init__(self):
        self._found: dict[str, InvalidDocument] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, mistake: InvalidDocument) -> None:
        """Collect the mistake, unless the same one was collected before."""
        for each in mistake.mistakes:
            self._found.setdefault(str(each), each)

    def at(self, place: str) -> InvalidDocument | None:
        """The first mistake that was collected at the place or below it."""
        return next((
            each for each in self._found.values() if each.place == place
            or each.place.startswith((f'{place}.', f'{place}['))), None)

    @contextlib.contextmanager
    def collected(self) -> Iterator[None]:
        """Collect a mistake that is raised in this context."""
        try:
            yield
        except InvalidDocument as mistake:
            self.add(mistake)

    def must_be_none(self) -> None:
        """:raises InvalidDocument: with all mistakes that were collected"""
        if self._found:
            first, *more = [*self._found.values()][:self.MOST]
            raise InvalidDocument(first.place, first.message, more)


class UnknownPlugin(HolisticError):
    """No driver, solver or objective of that name is installed."""
