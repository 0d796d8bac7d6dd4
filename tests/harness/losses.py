# SPDX-License-Identifier: GPL-2.0-only
"""What is rightly said of a recording that was made on a busy machine, where a recorder that gets no CPU loses some of it."""
import re

OURS = (r"kaa [\w-]+: warning: \d+ (?:samples?|records?(?: of (?:a )?process(?:es)?)?) (?:was|were) lost while recording"
        r"(?:: [^\n]*)?\n")
# Over several lines, with empty ones between.
THEIRS = (r"(?:Warning:\s*)?Processed \d+ events and lost \d+ chunks!\s*(?:Check IO/CPU overload!\s*)?"
          r"|(?:Warning:\s*)?Processed \d+ samples and lost +[\d.]+%!\s*")


def without_losses(text):
    """What kaa or perf wrote to standard error, without lines that say how much was lost."""
    return re.sub(f"{OURS}|{THEIRS}", "", text)
