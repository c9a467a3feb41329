"""Reading and writing: files, databases, frames."""
