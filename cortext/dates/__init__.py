"""Times and events that a query names: `find_spans` and `find_anchors`.

Weeks start on Monday.  A name without a year (a month, a weekday, a season, a holiday) is the
latest one that has begun by the reference, since memory is about the past; "next" and "coming"
look ahead.  Seasons are whole months and the northern hemisphere's; holidays are the few that most
of the English-speaking world has in common.  Numeric dates with slashes are month first unless
that is no date, those with dots day first.  "recently" and "lately" name no time: how far back they
reach is not in the words.

The phrases are English.  In every language: ISO dates and timestamps, numeric dates with a year,
"2021年5月8日"; and years after the usual preposition of some European languages ("en 2021").
"""

from cortext.dates.anchors import find_anchors
from cortext.dates.spans import find_spans
from cortext.dates.types import Anchor, TimeSpan

__all__ = ["Anchor", "TimeSpan", "find_anchors", "find_spans"]
