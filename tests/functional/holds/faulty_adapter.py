# SPDX-License-Identifier: Apache-2.0
"""Placement's adapter with faults: lost responses and errors."""

import json

from keystoneauth1 import exceptions as ks_exceptions
import requests


class Wire:
    """Placement's adapter. It records requests, and can lose answers.

    :ivar requests: methods of the requests, oldest first
    :ivar lose: how many of the next answers are replaced by a timeout, after
        Placement has carried out the requests
    :ivar away: how many of the next requests end with a timeout and do not
        get to Placement
    :ivar after: how many requests are answered before that
    :ivar fail: details of the answers to the next writes;
        Placement carries none of these out
    :ivar status: of these answers
    """

    def __init__(self, adapter):
        self.adapter = adapter
        self.requests = []
        self.lose = 0
        self.away = 0
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
        response = self.adapter.request(url, method, **kwargs)
        if self.lose:
            self.lose -= 1
            raise ks_exceptions.ConnectTimeout('no answer')
        return response


def broken(why, status=500):
    """Placement's answer where its database raises."""
    response = requests.Response()
    response.status_code = status
    response._content = json.dumps({'errors': [{
        'status': status, 'title': 'Internal Server Error', 'detail':
            'The server has either erred or is incapable of performing the '
            f'requested operation.\n\n {why} '}]}).encode()
    return response
