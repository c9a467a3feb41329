"""Tests in a real browser; a package, so that the browser lives as long as they do."""
