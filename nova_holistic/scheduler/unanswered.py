# SPDX-License-Identifier: Apache-2.0
"""A database of Nova's that does not answer is an error of ours."""

from collections.abc import Iterator
import contextlib

from oslo_db import exception as db_exception
from oslo_log import log as logging
import sqlalchemy as sa

from nova_holistic.scheduler.claim.refusal import Refused

LOG = logging.getLogger(__name__)


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """Around what asks them.

    :raises Refused: one of them does not answer
    """
    try:
        yield
    except (db_exception.DBError, sa.exc.SQLAlchemyError) as error:
        LOG.error("Nova's database does not answer: %s",
                  str(error).partition('\n')[0])
        raise Refused("Nova's database does not answer") from error
