# SPDX-License-Identifier: Apache-2.0
"""The context of a request: its user, its project and its request id."""

from collections.abc import Iterator, Mapping
import contextlib
from dataclasses import dataclass, field
from typing import Any

from oslo_context import context as oslo_context

MAX_LENGTH = 255
_SENT = ('request_id', 'project_id', 'user_id')


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The context that a request carries from the API to the process that
    performs it.

    :ivar request_id: ``req-…``, the same in the logs of both
    :ivar auth: keystoneauth plug-in with the token of the request; only for a
        parent of a federation. It never leaves the process: no document
        contains it
    :ivar parents: the parents through which the request has come, outermost
        first; only for a parent of a federation
    """

    request_id: str | None = None
    project_id: str | None = None
    user_id: str | None = None
    auth: Any = field(default=None, repr=False, compare=False)
    parents: tuple[str, ...] = ()

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> 'RequestContext':
        """Values that are not text or are too long are left out, because a
        request must not fail for its log lines."""
        return cls(**{
            name: value for name in _SENT
            for value in [document.get(name)]
            if isinstance(value, str) and len(value) <= MAX_LENGTH})

    def to_document(self) -> dict[str, str | None]:
        return {name: getattr(self, name) for name in _SENT}

    @contextlib.contextmanager
    def logged(self) -> Iterator[None]:
        """The logs of this thread within the context refer to this request."""
        before = oslo_context.get_current()
        oslo_context.RequestContext(
            request_id=self.request_id, project_id=self.project_id,
            user_id=self.user_id, overwrite=True)
        try:
            yield
        finally:
            if before is None:
                _forget()
            else:
                before.update_store()


def _forget() -> None:
    """This thread no longer works on a request."""
    with contextlib.suppress(AttributeError):
        del oslo_context._request_store.context
