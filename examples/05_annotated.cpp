// 05_annotated.cpp - a C++ code annotated for DFTracer: regions end with their scope, also by an exception.
//
//   DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=out/trace ./05_annotated
// SPDX-License-Identifier: MIT
#include <dftracer/dftracer.h>

#include <iostream>
#include <stdexcept>
#include <vector>

static int load(int index) {
  DFTRACER_CPP_FUNCTION();
  DFTRACER_CPP_FUNCTION_UPDATE("index", index);
  if (index == 3) throw std::out_of_range("no more");
  return index * index;
}

static int total(const std::vector<int> &values) {
  DFTRACER_CPP_FUNCTION();
  int sum = 0;
  {
    DFTRACER_CPP_REGION(add);
    for (int value : values) sum += value;
    DFTRACER_CPP_REGION_UPDATE(add, "sum", sum);
  }
  DFTRACER_CPP_REGION_START(report);
  std::cout << sum << '\n';
  DFTRACER_CPP_REGION_END(report);
  return sum;
}

int main() {
  DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
  std::vector<int> values;
  try {
    for (int index = 0;; index++) values.push_back(load(index));
  } catch (const std::out_of_range &) {
  }
  total(values);
  DFTRACER_CPP_FINI();
  return 0;
}
