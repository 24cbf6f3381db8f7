# SPDX-License-Identifier: Apache-2.0
"""Rules of authorisation, as oslo.policy defaults in code."""

from oslo_policy import policy

from nova_holistic.api.policies import (
    base, definitions, federation, groups, hosts, plans)

MODULES = (base, groups, definitions, plans, hosts, federation)


def list_rules() -> tuple[policy.RuleDefault, ...]:
    """Every rule, for oslopolicy-sample-generator."""
    return tuple(rule for module in MODULES for rule in module.RULES)
