# SPDX-License-Identifier: Apache-2.0
"""Errors of the federation."""

from nova_holistic import exceptions


class FederationError(exceptions.HolisticError):
    """Base of the errors of this package."""


class InvalidAnswer(FederationError):
    """A child's answer is not the document that the API describes, is too
    large, or contradicts the request."""


class ChildUnreachable(FederationError):
    """A child did not answer in time, or cannot process requests now. It may
    have carried out the request."""


class JournalRefused(FederationError):
    """The journal does not accept an entry: the group was deleted, or another
    process works on it. The saga stops and undoes what it did."""


class CredentialRefused(FederationError):
    """The keystone of a child does not accept an application credential."""


class ChildFailed(FederationError):
    """A child did not carry out a request about its part of a group. The
    message names the child and is written for users."""


class NotOffered(FederationError):
    """A parent does not offer the operation. The message is written for
    users."""


class ChildUnknown(FederationError):
    """There is no such child, or no credential for it. The message is written
    for users."""


class MemberNotBuilt(FederationError):
    """The member has no built server that could be removed from the group."""


class InvalidParents(FederationError):
    """The header with the parents of a request has a wrong value. The message
    is written for users."""


class ParentsRefused(FederationError):
    """The parents of a request form a cycle, or they are too many. The message
    is written for users."""
