# SPDX-License-Identifier: Apache-2.0
"""Converts errors of Nova's databases to an error of this project."""

from collections.abc import Iterator
import contextlib

from oslo_db import exception as db_exception
from oslo_log import log as logging
import sqlalchemy as sa

from nova_holistic.scheduler.claim.request_refusal import RequestRefused

LOG = logging.getLogger(__name__)


@contextlib.contextmanager
def as_refusals() -> Iterator[None]:
    """Context manager for queries to Nova's databases.

    :raises RequestRefused: a database does not answer
    """
    try:
        yield
    except (db_exception.DBError, sa.exc.SQLAlchemyError) as error:
        LOG.error("Nova's database does not answer: %s",
                  str(error).partition('\n')[0])
        raise RequestRefused("Nova's database does not answer") from error
