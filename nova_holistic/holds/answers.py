# SPDX-License-Identifier: Apache-2.0
"""What Placement's answers to requests about allocations mean."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.holds import errors


def code(response) -> str:
    """Placement's name of an error; empty if it gives none."""
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


def gave_way(response) -> bool:
    """Whether Placement's database undid the change in favour of others, as
    often as Placement tried: many at once write about the same hosts."""
    text = detail(response).lower()
    return response.status_code == 500 and (
        'deadlock' in text or 'try restarting transaction' in text)


def unexpected(response) -> errors.HoldsError:
    """The error for an answer that no request here should get."""
    return errors.HoldsError(
        f'{detail(response)} (status {response.status_code})')
