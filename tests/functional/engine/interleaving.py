# SPDX-License-Identifier: Apache-2.0
"""Calls a function at an exact point of another component's work."""

from nova_holistic.reconcile.reconciler import Reconciler


class Interleaved:
    """A real component; a function is called once, before or after the first
    call of one of its methods."""

    def __init__(self, component, method, *, before=None, after=None):
        """
        :param before: called without arguments just before the real method
        :param after: called without arguments once the real method returned
        """
        self._component = component
        self._method = method
        self._before = before
        self._after = after

    def __getattr__(self, name):
        found = getattr(self._component, name)
        if name != self._method:
            return found

        def call(*args, **kwargs):
            before, self._before = self._before, None
            after, self._after = self._after, None
            if before:
                before()
            result = found(*args, **kwargs)
            if after:
                after()
            return result

        return call


def reconcile(world, *, table=None, holds=None):
    """Run one pass of a reconciler with these components. It does not replan
    lost members.

    :returns: numbers of corrections by their kind
    """
    world.conf.set_override('replans', 0, group='reconciler')
    return Reconciler(world.components(
        table=table or world.table, holds=holds or world.holds)).reconcile()
