# SPDX-License-Identifier: GPL-2.0-only
"""Programs that root runs as the user nobody."""
from harness.process import run

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def as_nobody(*words, **options):
    return run([*AS_NOBODY, *words], **options)
