# SPDX-License-Identifier: Apache-2.0
"""A process that runs some of Nova's tests on one of the two managers.

Each line of its standard input is a JSON object, ``{"list": [NAME…]}`` or
``{"run": [NAME…]}``. A name is that of a package, module, class or test. The
process answers with lines on its standard output: ``{"test": ID}`` for an
existing test, ``{"test": ID, "outcome": …, "seconds": …, "details": …}`` for a
test that has run, and ``{"end": true}``. The output of the tests goes to
standard error.
"""

import json
import os
import pathlib
import pkgutil
import sys
import tempfile
import time
import unittest

from tools import garbage
from tools.nova_compat import configuration

STOCK, HOLISTIC = 'stock', 'holistic'


def main() -> None:
    """Run until the standard input ends.

    The argument is the manager: ``stock`` or ``holistic``.
    """
    answers = os.fdopen(os.dup(1), 'w', buffering=1)
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory(prefix='nova-compat-') as directory:
        _prepare(sys.argv[1], pathlib.Path(directory))
        for line in sys.stdin:
            _answer(json.loads(line),
                    lambda **answer: print(json.dumps(answer), file=answers))


def _prepare(manager: str, directory: pathlib.Path) -> None:
    # This import comes first, because it selects the threading of the process.
    import nova.tests.functional  # noqa: F401
    import nova.tests.unit  # noqa: F401

    import tests.fast_sqlite  # noqa: F401
    import tests.shared_statements  # noqa: F401

    defaults = configuration.nova_state(directory)
    if manager == HOLISTIC:
        from tools.nova_compat import substitute
        defaults |= substitute.install(directory)
    configuration.keep(defaults)
    garbage.search_less()


def _answer(question, tell) -> None:
    for test in _tests(question.get('list') or question['run']):
        if 'list' in question:
            tell(test=test.id())
        else:
            test.run(_result(tell))
    tell(end=True)


def _tests(names):
    """Return each test that the names select."""
    loader = unittest.TestLoader()
    return list(_flat(
        loader.loadTestsFromName(each)
        for name in names for each in _modules(name)))


def _modules(name):
    """Return the name in a list, or the test modules of a package."""
    module_or_package = sys.modules.get(name)
    if module_or_package is None:
        try:
            module_or_package = pkgutil.resolve_name(name)
        except (ImportError, AttributeError):
            return [name]
    if not hasattr(module_or_package, '__path__'):
        return [name]
    return [module.name for module in pkgutil.walk_packages(
        module_or_package.__path__, f'{name}.') if not module.ispkg
        and module.name.rpartition('.')[2].startswith('test_')]


def _flat(suite):
    for each in suite:
        if isinstance(each, unittest.TestCase):
            yield each
        else:
            yield from _flat(each)


def _result(tell):
    """Return a result of testtools that reports the outcome of each test."""
    import testtools

    class Result(testtools.TestResult):
        _started = 0.0
        _outcome = 'nothing'
        _details = ''

        def startTest(self, test):
            super().startTest(test)
            self._started, self._outcome = time.monotonic(), 'nothing'
            self._details = ''

        def stopTest(self, test):
            super().stopTest(test)
            tell(test=test.id(), outcome=self._outcome,
                 seconds=round(time.monotonic() - self._started, 3),
                 details=self._details)

        def _note(self, outcome, details=''):
            self._outcome = outcome
            self._details = str(details)

        def addSuccess(self, test, details=None):
            super().addSuccess(test, details)
            self._note('passed')

        def addError(self, test, err=None, details=None):
            self._note('error', self._err_details_to_string(
                test, err, details))

        def addFailure(self, test, err=None, details=None):
            self._note('failed', self._err_details_to_string(
                test, err, details))

        def addSkip(self, test, reason=None, details=None):
            super().addSkip(test, reason, details)
            self._note('skipped', reason or '')

        def addExpectedFailure(self, test, err=None, details=None):
            super().addExpectedFailure(test, err, details)
            self._note('expected failure')

        def addUnexpectedSuccess(self, test, details=None):
            super().addUnexpectedSuccess(test, details)
            self._note('unexpected success')

    return Result()


if __name__ == '__main__':
    main()
