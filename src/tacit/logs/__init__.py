"""Query logs of search engines: reading, cleaning, protecting, attacking.

`anonymize` does the whole job: it cleans a log, gives users with similar interests one common log,
so that at least ``k`` of them look alike, and returns a release that can be measured and saved.
"""

from tacit.logs.anonymizing import anonymize
from tacit.logs.cleaning import Cleaned, Cleaning, clean
from tacit.logs.known_queries import known_queries_risk
from tacit.logs.matching import EmbeddingMatcher, Matcher, SpellingMatcher
from tacit.logs.microaggregation import SemanticMicroaggregation
from tacit.logs.open_directory import read_open_directory
from tacit.logs.preservation import co_occurrence, query_frequencies
from tacit.logs.profiles import user_profiles
from tacit.logs.query_log import QueryLog
from tacit.logs.reading import read
from tacit.logs.release import LogRelease
from tacit.logs.remaining_interests import semantic_remain
from tacit.logs.taxonomy import Taxonomy
from tacit.logs.tree_files import demonstration, read_categories, read_table
from tacit.logs.user_anonymity import user_k_anonymity
from tacit.logs.wordnet import read_wordnet

__all__ = [
    "Cleaned",
    "Cleaning",
    "EmbeddingMatcher",
    "LogRelease",
    "Matcher",
    "QueryLog",
    "SemanticMicroaggregation",
    "SpellingMatcher",
    "Taxonomy",
    "anonymize",
    "clean",
    "co_occurrence",
    "demonstration",
    "known_queries_risk",
    "query_frequencies",
    "read",
    "read_categories",
    "read_open_directory",
    "read_table",
    "read_wordnet",
    "semantic_remain",
    "user_k_anonymity",
    "user_profiles",
]
