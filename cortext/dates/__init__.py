"""Times and events that a query names: `find_spans` and `find_anchors`.

Weeks start on Monday.  A name without a year (a month, a weekday, a season, a holiday) is the latest
one that has begun by the reference, since memory is about the past; "next" and "coming" look ahead.
Seasons are the northern hemisphere's, whole months.  English; ISO dates, numeric dates and years are
read in any language.  Numeric dates with slashes are month first unless that is no date, with dots
day first.  "recently" and "lately" name no time: how far back they reach is not in the words.
"""

from cortext.dates.anchors import find_anchors
from cortext.dates.spans import find_spans
from cortext.dates.types import Anchor, TimeSpan

__all__ = ["Anchor", "TimeSpan", "find_anchors", "find_spans"]
