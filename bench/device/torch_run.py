"""What the scripts that time PyTorch share: the head of a run, and the file of runs that Kith's programs write too."""
import datetime
import json
import os


def run_head(program, torch, driver):
    return {
        "program": program,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "torch": torch.__version__,
        "device": {"name": torch.cuda.get_device_name(), "driver": driver},
    }


def append_run(path, schema, run):
    document = {"schema": schema, "schema_version": 1, "runs": []}
    if os.path.exists(path):
        with open(path) as file:
            document = json.load(file)
    document["runs"].append(run)
    with open(path, "w") as file:
        json.dump(document, file)
        file.write("\n")
