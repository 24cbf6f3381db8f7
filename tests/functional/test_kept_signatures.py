# SPDX-License-Identifier: Apache-2.0
"""The kept arguments of methods are those that Python finds."""

import inspect

from tests.functional.kept_signatures import KeptSignatures


class Check:
    def __call__(self, target, creds, enforcer, current_rule=None):
        pass


class Middleware:
    def process_response(self, response, request=None):
        pass


def test_kept_arguments_equal_those_of_python():
    read = inspect.getfullargspec
    called = (Check().__call__, Check().__call__, Check.__call__,
              Middleware().process_response, Middleware.process_response)
    with KeptSignatures() as kept:
        for each in called:
            assert inspect.getfullargspec(each) == read(each)
        assert [*kept._kept] == [
            Check.__call__, Middleware.process_response]
    assert inspect.getfullargspec is read
