# SPDX-License-Identifier: Apache-2.0
"""Records in the group why a member lost its place when its server was
created."""

from collections.abc import Sequence
from datetime import datetime

from nova_holistic.model.messages.marked_text import (
    format_message, joined)
from nova_holistic.model.plan import Reason
from nova_holistic.scheduler.claim.request_refusal import HostRefused
from nova_holistic.scheduler.hosts.host_reader import AGGREGATES, TRAITS, ZONE
from nova_holistic.table.coordination.refusals import Refusal
from nova_holistic.table.records import MemberRecord
from nova_holistic.table.store import PlacementTable


def record_loss(table: PlacementTable, row: MemberRecord,
                refusals: Sequence[HostRefused], now: datetime) -> None:
    """Store the reason, and the hosts that the next plan does not use.

    :param refusals: one for each host that was tried, in order
    """
    table.refusals.add(row, [
        Refusal(refusal.host, refusal.by) for refusal in refusals
        if refusal.by is not None], reason_of(row, refusals).to_row(), now)


def reason_of(row: MemberRecord, refusals: Sequence[HostRefused]) -> Reason:
    """The reason why the member is lost, with the names of hosts marked."""
    text = joined('; ', [
        format_message('host {:name} {}{}', refusal.host, refusal.cause,
                       _filter(refusal))
        for refusal in refusals])
    return Reason.of(row.member.path, format_message(
        'no host that was planned for the server can take it: {}', text))


def _filter(refusal: HostRefused) -> str:
    plain = refusal.by in (None, ZONE, AGGREGATES, TRAITS)
    return '' if plain else f' ({refusal.by})'
