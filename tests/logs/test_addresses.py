"""Coarser web addresses."""

import polars as pl
import pytest

from tacit.logs.addresses import hosts, registered_domains


@pytest.mark.parametrize(
    ("url", "host", "domain"),
    [
        ("http://www.shop.example", "shop.example", "shop.example"),
        ("https://anna:pass@Blog.Anna.example:80/me?x=1#t", "blog.anna.example", "anna.example"),
        ("news.bbc.co.uk/1", "news.bbc.co.uk", "bbc.co.uk"),
        ("http://www2.uni.ac.at", "uni.ac.at", "uni.ac.at"),
        ("localhost", "localhost", "localhost"),
        ("http://192.168.0.1/admin", None, None),
        ("", None, None),
        (None, None, None),
        ("//cdn.example/a", "cdn.example", "cdn.example"),
        ("mañana.example/ñ", "mañana.example", "mañana.example"),
    ],
)  # fmt: skip
def test_hosts_and_domains(url, host, domain):
    urls = pl.Series("url", [url], dtype=pl.String)
    assert hosts(urls).to_list() == [host]
    assert registered_domains(urls).to_list() == [domain]
