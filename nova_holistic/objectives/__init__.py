# SPDX-License-Identifier: Apache-2.0
"""Objectives: one file each, found by their entry points."""

from nova_holistic.model.objective import Objective
from nova_holistic import plugins

NAMESPACE = 'nova_holistic.objectives'


def load_objective(name: str, source: str = 'objective') -> Objective:
    """The installed objective of that name.

    :param source: where the name comes from, for the message
    :raises UnknownPlugin: no objective of that name is installed
    """
    return plugins.load(NAMESPACE, name, source)()
