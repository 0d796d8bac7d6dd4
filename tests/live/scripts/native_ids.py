# SPDX-License-Identifier: GPL-2.0-only
"""Gives threads their native_id where Python does not, before 3.8: imported for that."""
import threading

SYS_GETTID = 186

if not hasattr(threading.Thread, "native_id"):
    import ctypes

    set_ident = threading.Thread._set_ident

    def note(thread):
        set_ident(thread)
        thread.native_id = ctypes.CDLL(None).syscall(SYS_GETTID)

    threading.Thread._set_ident = note
    note(threading.main_thread())
