"""The project for newcomers."""

from tacit.app.demonstration import NAME, create_demo


def test_the_first_person_finds_data_and_a_plan_that_works(parts, people, settings, worker):
    root = people["administrator"]
    project = create_demo(settings.replace(demo_records=400), root)
    about = parts.projects.show(root, project)
    assert about["name"] == NAME
    assert about["data"]["records"] == 400
    asked = {"name": "v", "plan": about["plan"], "seed": 1}
    job = parts.jobs.submit(root, project, "generate", asked)
    worker.step()
    assert parts.jobs.show(root, job)["state"] == "done"
