# SPDX-License-Identifier: Apache-2.0
"""One group on a nearly full cloud: by stock Nova, then jointly."""
