# SPDX-License-Identifier: Apache-2.0
"""Every error this project raises on purpose."""


class HolisticError(Exception):
    """Base of the project's own errors.

    The text is written for the operator: it may name hosts, services and
    files. Users read only the texts of the kinds that ``api.errors``,
    ``engine.reasons`` and ``scheduler.refusal`` list.
    """


class InvalidDocument(HolisticError):
    """A document cannot be accepted.

    :param place: where in the document, e.g. ``groups[1].policies[0].level``;
        empty for the document as a whole
    :param message: what is wrong there, in one line
    """

    def __init__(self, place: str, message: str):
        self.place = place
        self.message = message
        super().__init__(f'{place}: {message}' if place else message)


class UnknownPlugin(HolisticError):
    """No driver, solver or objective of that name is installed."""
