# SPDX-License-Identifier: Apache-2.0
"""Interprets Placement's responses to requests about allocations."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.holds import errors

FROM_PROXIES = (502, 503, 504)
"""HTTP statuses by which a proxy reports that Placement does not respond."""


def code(response) -> str:
    """Placement's code of an error; empty if the response has no code."""
    return _error(response).get('code', '')


def detail(response) -> str:
    """Placement's description of an error, on one line."""
    text = _error(response).get('detail') or response.text
    return 'Placement: ' + ' '.join(text.split())


def _error(response) -> Mapping[str, Any]:
    try:
        return response.json()['errors'][0]
    except (ValueError, LookupError, TypeError):
        return {}


def was_rolled_back(response) -> bool:
    """Whether Placement's database rolled the change back in each of
    Placement's attempts. This happens if many requests change the same hosts
    at the same time."""
    text = detail(response).lower()
    return response.status_code == 500 and (
        'deadlock' in text or 'try restarting transaction' in text)


def unexpected(response) -> errors.HoldsError:
    """The error for an unexpected response."""
    kind = (errors.NoResponse if response.status_code in FROM_PROXIES
            else errors.HoldsError)
    return kind(f'{detail(response)} (status {response.status_code})')


def document(response) -> Any:
    """The document of a response with the status 200.

    :raises HoldsError: the response has another status
    """
    if response.status_code != 200:
        raise unexpected(response)
    return response.json()
