# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI description of the API, and checks of the group definitions in
requests."""
