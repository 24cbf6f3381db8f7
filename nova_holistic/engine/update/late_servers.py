# SPDX-License-Identifier: Apache-2.0
"""Servers of other groups or projects that were created while a group was
updated."""

from collections.abc import Sequence
from dataclasses import replace

from oslo_log import log as logging

from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.engine.update.revision_proposal import RevisionProposal
from nova_holistic import exceptions
from nova_holistic.model.plan import Reason

LOG = logging.getLogger(__name__)


def late_objections(snapshot_planner: SnapshotPlanner,
                    proposal: RevisionProposal) -> Sequence[Reason]:
    """Reasons for servers from outside the group that were created on an
    exclusive host of the group before the table named the host.

    The group is already updated. If the check fails, a warning is logged and
    the result is empty.
    """
    if not proposal.decision.exclusive:
        return ()
    request = replace(proposal.request, vacated=())
    try:
        return snapshot_planner.objections(
            request, proposal.decision,
            [m.place.host for m in proposal.members])
    except exceptions.HolisticError as error:
        LOG.warning('Group %s was updated, but it was not checked whether '
                    'other servers were created on its hosts at the same '
                    'time: %s', request.uuid, error)
        return ()
