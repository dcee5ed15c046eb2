// pipeline.cpp - a C++ code as people annotate it: objects, scopes, exceptions, templates, dynamic regions.
#include <dftracer/dftracer.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

class Reader {
public:
  explicit Reader(const std::string &path) : path_(path) {
    DFTRACER_CPP_FUNCTION();
    DFTRACER_CPP_FUNCTION_UPDATE("path", path_.c_str());
    usleep(300);
  }
  ~Reader() {
    DFTRACER_CPP_FUNCTION();
    usleep(200);
  }
  int next(int index) const {
    DFTRACER_CPP_FUNCTION();
    DFTRACER_CPP_FUNCTION_UPDATE("index", index);
    usleep(200);
    if (index > 2) throw std::runtime_error("no more");
    return index;
  }

private:
  std::string path_;
};

template <typename T> T transform(T value) {
  DFTRACER_CPP_FUNCTION();
  {
    DFTRACER_CPP_REGION(KERNEL);
    DFTRACER_CPP_REGION_UPDATE(KERNEL, "stage", 1);
    DFTRACER_CPP_REGION_UPDATE(KERNEL, "stage", 2);
    DFTRACER_CPP_REGION_UPDATE_TYPE(KERNEL, "device", "cpu", MetadataType::MT_VALUE);
    usleep(200);
  }
  usleep(200);
  return value * 2;
}

enum Mode { FAST = 4 };

void reduce(const std::vector<int> &values) {
  DFTRACER_CPP_FUNCTION()
  DFTRACER_CPP_REGION_START(SUM);
  int sum = 0;
  for (int value : values) sum += value;
  DFTRACER_CPP_REGION_DYN_UPDATE(SUM, "sum", sum);
  DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(SUM, "how", "serial", MT_KEY);
  usleep(200);
  DFTRACER_CPP_REGION_START(STORE);
  usleep(200);
  DFTRACER_CPP_REGION_END(STORE);
  DFTRACER_CPP_REGION_END(SUM);
  DFTRACER_CPP_FUNCTION_UPDATE("mode", FAST);
  DFTRACER_CPP_FUNCTION_UPDATE("is_last", true);
  DFTRACER_CPP_FUNCTION_UPDATE_TYPE("count", static_cast<int>(values.size()), MT_VALUE);
  usleep(200);
}

void by_hand() {
  DFTracer outer = DFTracer("outer", "manual", DF_DATA_EVENT);
  outer.update("key", "first");
  outer.update("key", "last");
  usleep(200);
  auto lambda = [] {
    DFTRACER_CPP_FUNCTION();
    usleep(200);
  };
  lambda();
  DFTracer *inner = new DFTracer("inner", "manual", DF_DATA_EVENT);
  inner->update("number", -7);
  usleep(200);
  delete inner;
  outer.finalize();
}

} // namespace

int main() {
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  DFTRACER_CPP_METADATA(meta, "app", "pipeline");
  DFTRACER_CPP_APP_METADATA_INT("stages", 3);
  DFTRACER_CPP_APP_METADATA_STR("input", "synthetic");
  DFTRACER_CPP_MARK_USED("Kokkos");
  {
    Reader reader("/data/in.bin");
    std::vector<int> values;
    try {
      for (int index = 0;; index++) values.push_back(transform(reader.next(index)));
    } catch (const std::exception &) {
      usleep(200);
    }
    reduce(values);
  }
  by_hand();
  DFTRACER_CPP_FINI();
  return 0;
}
