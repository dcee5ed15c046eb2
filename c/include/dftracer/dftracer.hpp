/* dftracer.hpp - the C++ part of dftracer.h, which includes it: the class DFTracer and its macros. Needs C++11.
 *
 *   void work(int step) {
 *     DFTRACER_CPP_FUNCTION();                              // ends with the function, also on an exception
 *     DFTRACER_CPP_FUNCTION_UPDATE("step", step);
 *   }
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_DFTRACER_HPP
#define DFTRACER_DFTRACER_HPP

#include <dftracer/dftracer.h>

#define DFTRACER_METHOD inline __attribute__((no_instrument_function))

__attribute__((unused)) static ConstEventNameType CPP_LOG_CATEGORY = "CPP_APP";

/* How an aggregation used an argument. It is ignored: every argument is recorded. */
enum MetadataType : unsigned char { MT_KEY = 0, MT_VALUE = 1, MT_IGNORE = 2 };

/* A region of the thread that constructs it. It can be moved, but not copied. */
class DFTracer {
public:
  DFTRACER_METHOD DFTracer(ConstEventNameType name, ConstEventNameType cat, int event_type = DF_DATA_EVENT)
      : region(dftracer_region(initialize_region(name, cat, event_type))) {
  }
  DFTRACER_METHOD explicit DFTracer(dft_site *site) : region(dftracer_region(dftracer_begin(site))) {
  }
  DFTRACER_METHOD DFTracer(DFTracer &&other) noexcept : region(other.region) {
    other.region = 0;
  }
  DFTracer(const DFTracer &) = delete;
  DFTracer &operator=(const DFTracer &) = delete;
  DFTRACER_METHOD ~DFTracer() {
    finalize();
  }

  /* Ends the region before the object is destroyed. */
  DFTRACER_METHOD void finalize() {
    dft_region_close(region);
    region = 0;
  }

  DFTRACER_METHOD void update(const char *key, const char *value, int type = MT_KEY) {
    update_metadata_string_type(dftracer_data(region), key, value, type);
  }
  /* One overload per arithmetic type: no call is ambiguous, and no value is truncated. */
#define DFTRACER_UPDATE(cpp_type, kind, wide)                                                        \
  DFTRACER_METHOD void update(const char *key, cpp_type value, int = MT_KEY) {                       \
    if (region) dft_update_##kind##_n(region, key, key ? strlen(key) : 0, static_cast<wide>(value)); \
  }
  DFTRACER_UPDATE(int, int, int64_t)
  DFTRACER_UPDATE(long, int, int64_t)
  DFTRACER_UPDATE(long long, int, int64_t)
  DFTRACER_UPDATE(unsigned, uint, uint64_t)
  DFTRACER_UPDATE(unsigned long, uint, uint64_t)
  DFTRACER_UPDATE(unsigned long long, uint, uint64_t)
  DFTRACER_UPDATE(float, double, double)
  DFTRACER_UPDATE(double, double, double)
  DFTRACER_UPDATE(long double, double, double)
#undef DFTRACER_UPDATE

private:
  dft_region region;
};

/* They are templates in a namespace, so a program's own functions of these names are preferred. */
namespace dftracer_names {
template <typename Unused = void> DFTRACER_METHOD TimeResolution get_time() {
  return dftracer_get_time();
}
template <typename Unused = void>
DFTRACER_METHOD void log_event(const char *name, const char *cat, TimeResolution start, TimeResolution duration) {
  dftracer_log_event(name, cat, start, duration);
}
} // namespace dftracer_names
using namespace dftracer_names;

/* ---- Macros ------------------------------------------------------------------------------------------------------- */

#define DFTRACER_CPP_INIT(log_file, data_dirs, process_id) \
  (initialize_main(log_file, data_dirs, process_id), mark_used("CPP_APP"));
#define DFTRACER_CPP_INIT_NO_BIND(log_file, data_dirs, process_id) \
  (initialize_no_bind(log_file, data_dirs, process_id), mark_used("CPP_APP"));
#define DFTRACER_CPP_FINI() finalize()

#define DFTRACER_CPP_BEGIN(object, text)                              \
  static dft_site dftracer_site_##object = DFT_SITE(text, "CPP_APP"); \
  DFTracer object(&dftracer_site_##object);

#define DFTRACER_CPP_FUNCTION() DFTRACER_CPP_BEGIN(profiler_dft_fn, __func__)
#define DFTRACER_CPP_FUNCTION_UPDATE(key, val) profiler_dft_fn.update(key, val);
#define DFTRACER_CPP_FUNCTION_UPDATE_TYPE(key, val, type) profiler_dft_fn.update(key, val, type);

#define DFTRACER_CPP_REGION(name) DFTRACER_CPP_BEGIN(profiler_##name, #name)
#define DFTRACER_CPP_REGION_UPDATE(name, key, val) profiler_##name.update(key, val);
#define DFTRACER_CPP_REGION_UPDATE_TYPE(name, key, val, type) profiler_##name.update(key, val, type);

/* A region from here to its END, or to the end of the scope if that comes first. */
#define DFTRACER_CPP_REGION_START(name)             \
  DFTRACER_CPP_BEGIN(dftracer_region_##name, #name) \
  DFTracer *profiler_##name = &dftracer_region_##name;
#define DFTRACER_CPP_REGION_END(name) profiler_##name->finalize()
#define DFTRACER_CPP_REGION_DYN_UPDATE(name, key, val) profiler_##name->update(key, val);
#define DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(name, key, val, type) profiler_##name->update(key, val, type);

#define DFTRACER_CPP_METADATA(name, key, value) dftracer_metadata(key, value);
#define DFTRACER_CPP_APP_METADATA_INT(key, val) set_app_metadata_int(key, val);
#define DFTRACER_CPP_APP_METADATA_STR(key, val) set_app_metadata_string(key, val);
#define DFTRACER_CPP_MARK_USED(name) mark_used(name);

#endif
