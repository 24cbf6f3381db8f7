# SPDX-License-Identifier: Apache-2.0
"""Placement's adapter with faults: lost responses and errors."""

import json

from keystoneauth1 import exceptions as ks_exceptions
import requests


class Wire:
    """Placement's adapter. It records requests, and can lose responses.

    :ivar requests: methods of the requests, oldest first
    :ivar lose: number of the next responses that are replaced by a timeout,
        after Placement has carried out the requests
    :ivar away: number of the next requests that end with a timeout and do not
        reach Placement
    :ivar delay: number of the next writes that end with a timeout and reach
        Placement only when ``carry_out_delayed`` is called
    :ivar after: number of requests that get a response before these timeouts
    :ivar fail: details of the error responses to the next writes, the last one
        first; Placement does not carry out these writes
    :ivar status: status code of these responses
    """

    def __init__(self, adapter):
        self.adapter = adapter
        self.requests = []
        self.lose = 0
        self.away = 0
        self.delay = 0
        self._delayed = []
        self.after = 0
        self.fail = []
        self.status = 500

    def request(self, url, method, **kwargs):
        self.requests.append(method)
        if self.away and not self.after:
            self.away -= 1
            raise ks_exceptions.ConnectTimeout('no answer')
        self.after = max(0, self.after - 1)
        if self.fail and method != 'GET':
            return broken(self.fail.pop(), self.status)
        if self.delay and method != 'GET':
            self.delay -= 1
            self._delayed.append((url, method, kwargs))
            raise ks_exceptions.ConnectTimeout('no answer')
        response = self.adapter.request(url, method, **kwargs)
        if self.lose:
            self.lose -= 1
            raise ks_exceptions.ConnectTimeout('no answer')
        return response

    def carry_out_delayed(self):
        """Let the delayed writes reach Placement.

        :returns: the statuses of Placement's responses
        """
        delayed, self._delayed = self._delayed, []
        return [self.adapter.request(url, method, **kwargs).status_code
                for url, method, kwargs in delayed]


def broken(why, status=500):
    """Placement's response if its database raises an error."""
    response = requests.Response()
    response.status_code = status
    response._content = json.dumps({'errors': [{
        'status': status, 'title': 'Internal Server Error', 'detail':
            'The server has either erred or is incapable of performing the '
            f'requested operation.\n\n {why} '}]}).encode()
    return response
