# SPDX-License-Identifier: Apache-2.0
"""Results of dry runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nova_holistic.documents.plan import to_document
from nova_holistic.documents.relaxations import (
    headroom_to_document, relaxations_to_document)
from nova_holistic.engine.decision.plan_analysis import PlanAnalysis
from nova_holistic.engine import reasons
from nova_holistic import exceptions
from nova_holistic.model.plan import Reason, Unknown, Unplaceable
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import PlanRecord, PlanStatus


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """The result of a dry run in the form that the table stores.

    :ivar document: a plan document; in status error only status and reasons
    """

    status: PlanStatus
    document: Mapping[str, Any]


def answer_request(advise: Callable[[], PlanAnalysis],
                   record: PlanRecord) -> PlanAnswer:
    """The result of a dry run. Its status is error if ``advise`` raises an
    error other than TableError.

    :param advise: carries out the dry run
    :raises TableError: the table does not respond; the dry run may be tried
        again
    """
    try:
        advice = advise()
        found = advice.answer
        document = {**to_document(found, record.name, advice.group),
                    **_extras(advice)}
        if isinstance(found, Unplaceable):
            document['reasons'] = [r.to_row() for r in found.reasons]
        elif isinstance(found, Unknown):
            document['public'] = reasons.of_engine(found.message).text.public()
    except table_errors.TableError:
        raise
    except exceptions.HolisticError as error:
        return failed_answer(reasons.of_errors(error))
    except Exception as error:
        return failed_answer([reasons.of_error(
            error, f'planning failed: {error!r}')])
    return PlanAnswer(PlanStatus(document['status']), document)


def _extras(advice: PlanAnalysis) -> dict[str, Any]:
    found, copies = advice.relaxations, advice.headroom
    return {
        **({} if found is None else {
            'relaxations': relaxations_to_document(found)}),
        **({} if copies is None else {
            'headroom': headroom_to_document(copies)})}


def failed_answer(why: Sequence[Reason]) -> PlanAnswer:
    """The result of a dry run that could not be carried out."""
    return PlanAnswer(PlanStatus.ERROR, {
        'status': str(PlanStatus.ERROR),
        'reasons': [r.to_row() for r in why]})
