# SPDX-License-Identifier: Apache-2.0
"""Placement's adapter with faults: answers that are lost, and errors."""

import json

from keystoneauth1 import exceptions as ks_exceptions
import requests


class Wire:
    """Placement's adapter. It records requests, and can lose answers.

    :ivar requests: methods of the requests, oldest first
    :ivar lose: how many of the next answers are replaced by a timeout, after
        Placement has carried out the requests
    :ivar fail: details of the answers, with status 500, to the next writes;
        Placement carries none of these out
    """

    def __init__(self, adapter):
        self.adapter = adapter
        self.requests = []
        self.lose = 0
        self.fail = []

    def request(self, url, method, **kwargs):
        self.requests.append(method)
        if self.fail and method != 'GET':
            return broken(self.fail.pop())
        response = self.adapter.request(url, method, **kwargs)
        if self.lose:
            self.lose -= 1
            raise ks_exceptions.ConnectTimeout('no answer')
        return response


def broken(why):
    """Placement's answer where its database raises."""
    response = requests.Response()
    response.status_code = 500
    response._content = json.dumps({'errors': [{
        'status': 500, 'title': 'Internal Server Error', 'detail':
            'The server has either erred or is incapable of performing the '
            f'requested operation.\n\n {why} '}]}).encode()
    return response
