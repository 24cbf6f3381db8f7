# SPDX-License-Identifier: Apache-2.0
"""Writes the log to one file, and keeps log and warnings off the terminal."""

import logging
import warnings

import fixtures

FORMAT = '%(asctime)s %(levelname)s [%(name)s] %(message)s'


class QuietLogging(fixtures.Fixture):
    """While it is active, messages at INFO and above are written to a file.

    Handlers of the class ``logging.StreamHandler`` are removed. Handlers of
    its subclasses, such as those of pytest, remain.

    :ivar path: path of the file
    """

    def __init__(self, path):
        super().__init__()
        self.path = path

    def _setUp(self):
        root = logging.getLogger()
        handlers, level = root.handlers[:], root.level
        self.addCleanup(root.setLevel, level)
        self.addCleanup(self._restore, root, handlers)
        for handler in handlers:
            if type(handler) is logging.StreamHandler:
                root.removeHandler(handler)
        file_handler = logging.FileHandler(self.path)
        file_handler.setFormatter(logging.Formatter(FORMAT))
        self.addCleanup(file_handler.close)
        self.addCleanup(root.removeHandler, file_handler)
        root.addHandler(file_handler)
        root.setLevel(logging.INFO)
        # Nova's services would configure logging again when they start.
        self.useFixture(fixtures.MonkeyPatch(
            'oslo_log.log.setup', lambda *args, **kwargs: None))
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter('ignore')

    @staticmethod
    def _restore(root, handlers):
        for handler in handlers:
            if handler not in root.handlers:
                if type(handler) is logging.StreamHandler:
                    root.addHandler(handler)
