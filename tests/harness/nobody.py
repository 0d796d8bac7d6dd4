# SPDX-License-Identifier: GPL-2.0-only
"""Programs that root runs as the user nobody, or another without rights."""
from harness.process import run


def as_user(number):
    """Words before a command, for a user and the group of the same number."""
    return ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups"]


NOBODY = 65534
AS_NOBODY = as_user(NOBODY)
# And none that it could get back.
WITHOUT_RIGHTS = [*AS_NOBODY, "--inh-caps=-all", "--bounding-set=-all"]

# Root as any other user: what a file's mode forbids is forbidden.
NO_CAPABILITIES = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]


def as_nobody(*words, **options):
    return run([*AS_NOBODY, *words], **options)
