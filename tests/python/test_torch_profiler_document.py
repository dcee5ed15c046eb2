"""test_torch_profiler_document.py - the dftracer blocks of torch_profiler_and_dftracer.md.

The class of the document derives from torchvision's ImageFolder; here a small stand-in with its attributes does.
"""

from harness import main, one

PROGRAM = """
import os, sys
class args: trace_dir, data = sys.argv[1], sys.argv[1] + "/data"
rank, world_size = 0, 4
os.mkdir(args.data)
open(args.data + "/a.jpg", "wb").write(b"12345")

from dftracer.logger import dftracer as PerfTrace, dft_fn as Profile
PerfTrace.initialize_log(logfile=f"{args.trace_dir}/trace-{rank}-of-{world_size}.pfw", \\
    data_dir=f"{args.data}", \\
    process_id=rank)

class datasets:
    class ImageFolder:
        transform = target_transform = staticmethod(lambda x: x)
        def __init__(self, folder): self.samples = [(f"{folder}/a.jpg", 0)]
        def loader(self, path):
            with open(path, "rb") as file: return file.read()

from dftracer.logger import dft_fn as Profile
dlp_data = Profile("DataLoader")
class DataLoader(datasets.ImageFolder):
    @dlp_data.log
    def preprocess(self, sample, target):
        if self.transform is not None:
            sample = self.transform(sample)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return sample, target

    @dlp_data.log
    def read_data(self, index):
        path, target = self.samples[index]
        return self.loader(path), target

    @dlp_data.log
    def __getitem__(self, index):
        sample, target = self.read_data(index)
        return sample, target

loader = DataLoader(args.data)
assert loader.preprocess(*loader[0]) == (b"12345", 0)
PerfTrace.get_instance().finalize()
"""


def test_document(tmp_path):
    trace = one(PROGRAM, tmp_path, start=False, DFTRACER_DISABLE_IO="0")
    assert trace.path.endswith("/trace-0-of-4.pfw")  # people look it up by this name
    own = [event["name"] for event in trace.user_events() if event["cat"] == "DataLoader"]
    assert own == ["DataLoader.read_data", "DataLoader.__getitem__", "DataLoader.preprocess"]
    calls = [event["name"] for event in trace.events if event["cat"] == "POSIX"]
    assert "open" in calls and "read" in calls and "close" in calls


if __name__ == "__main__":
    main(__file__)
