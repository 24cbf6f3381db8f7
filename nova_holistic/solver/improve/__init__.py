# SPDX-License-Identifier: Apache-2.0
"""Large-neighbourhood search: a known plan is improved part by part."""
