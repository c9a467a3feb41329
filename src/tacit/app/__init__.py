"""The web app and its REST interface: people, projects, jobs, pages."""
