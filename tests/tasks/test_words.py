from __future__ import annotations

import pytest

from manyhands.tasks.cron import parse_cron
from manyhands.tasks.words import say_cron


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("* * * * *", "every minute"),
        ("*/15 * * * *", "every 15 minutes"),
        ("0 * * * *", "every hour"),
        ("5 * * * *", "every hour at minute 5"),
        ("5,20 * * * *", "every hour at the minutes 5 and 20"),
        ("@daily", "every day at 00:00"),
        ("0 9 * * mon-fri", "every Monday to Friday at 09:00"),
        ("30 8 * * sat,sun", "every Saturday and Sunday at 08:30"),
        ("0 */6 * * *", "every day at 00:00, 06:00, 12:00 and 18:00"),
        ("0 */2 * * *", "every 2 hours"),
        ("5 */3 * * *", "every 3 hours at minute 5"),
        ("*/20 */2 * * *", "every 20 minutes of every 2nd hour"),
        ("30 9-17 * * *", "every hour from 09:30 to 17:30"),
        ("*/10 9-17 * * 1-5", "every Monday to Friday every 10 minutes from 09:00 to 17:50"),
        ("0 0-5,12,18 * * *", "at minute 0 of the hours 0, 1, 2, 3, 4, 5, 12 and 18"),
        ("0 9 1 * *", "on the 1st of every month at 09:00"),
        ("0 0 29 2 *", "on the 29th of February at 00:00"),
        ("0 0 * jan-mar *", "every day in January to March at 00:00"),
        ("0 0 13 * fri", "on the 13th or on every Friday at 00:00"),
    ],
)
def test_an_expression_is_said_in_words(text: str, words: str) -> None:
    assert say_cron(parse_cron(text)) == words
