# SPDX-License-Identifier: Apache-2.0
"""Plans without holds, over the API."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib import parse

from nova_holistic.client import errors, waiting
from nova_holistic.client.microversions import WARNINGS


class Plans:
    """Every method raises Refused if the API refuses the request."""

    def __init__(self, request: Callable[..., Any]):
        self._request = request

    def create(self, document: Mapping[str, Any], *,
               objective: str | None = None, relaxations: bool = False,
               headroom: bool = False) -> dict[str, Any]:
        """Request a plan for the group in the current state of the cloud.

        :param relaxations: whether to request the changes that make an
            unplaceable group fit
        :param headroom: whether to request how many copies of the group fit
        """
        body = {'group': document.get('group', document)}
        if objective is not None:
            body['objective'] = objective
        if relaxations:
            body['relaxations'] = True
        if headroom:
            body['headroom'] = True
        return self._request('POST', '/plans', body=body)['plan']

    def get(self, plan_id: str) -> dict[str, Any]:
        """The plan; with its warnings, if the API knows them."""
        path = '/plans/' + parse.quote(plan_id, safe='')
        try:
            return self._request('GET', path, since=WARNINGS)['plan']
        except errors.Refused as error:
            if error.status != 406:
                raise
        return self._request('GET', path)['plan']

    def wait(self, plan_id: str, timeout: float,
             report: Callable[[Any], None] | None = None) -> dict[str, Any]:
        """Wait until the plan is finished, and return it.

        :raises TimedOut: the plan is not finished at the time limit
        """
        return waiting.poll_until(lambda: self.get(plan_id),
                                  lambda plan: plan['status'] != 'planning',
                                  timeout, report)
