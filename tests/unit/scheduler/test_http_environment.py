# SPDX-License-Identifier: Apache-2.0
"""HTTP connections obey the environment, and look at it no more than once."""

import pytest
import requests

from nova_holistic.scheduler import http_environment

NAMES = ('http_proxy', 'https_proxy', 'all_proxy', 'no_proxy',
         'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE')


@pytest.mark.parametrize('name, value', [
    (None, None), ('http_proxy', 'http://proxy:3128'),
    ('HTTPS_PROXY', 'http://proxy:3128'), ('all_proxy', 'socks5://proxy'),
    ('REQUESTS_CA_BUNDLE', '/etc/ca.pem'), ('CURL_CA_BUNDLE', '/etc/ca.pem')])
def test_only_an_environment_that_says_nothing_is_ignored(
        monkeypatch, name, value):
    for each in NAMES:
        monkeypatch.delenv(each, raising=False)
        monkeypatch.delenv(each.upper(), raising=False)
    if name:
        monkeypatch.setenv(name, value)
    session = requests.Session()
    http_environment.skip_environment_lookups(session)
    assert session.trust_env is (name is not None)
