"""So many requests in so many seconds, for each user."""

from tacit import query
from tacit.query import RateLimit

TABLE = {"method": "crosstab", "by": ["sex"]}


def test_by_user_and_time(people):
    now = [0.0]
    policy = query.Policy(name="slow", guards=(RateLimit(requests=3, seconds=10.0),))
    server = query.Server(people, policy, secret=b"a" * 20, clock=lambda: now[0])
    assert [server.ask(TABLE, user="a").is_refusal for _ in range(4)] == [False] * 3 + [True]
    assert not server.ask(TABLE, user="b").is_refusal
    now[0] = 10.5
    assert not server.ask(TABLE, user="a").is_refusal
    assert server.ask({"method": "nothing"}, user="a").rule == "request"
