"""Run by Alembic: bring the connection it was given to the wanted form."""

from alembic import context

from tacit.app.store.records import Record

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Record.metadata,
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
