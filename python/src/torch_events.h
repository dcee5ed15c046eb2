/* torch_events.h - the entries of torch.profiler as events.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_TORCH_EVENTS_H
#define DFT_PYTHON_TORCH_EVENTS_H

#include "native.h"

/* _log_torch(events, start_ns, units_per_second, device_us, has_device, has_shapes) */
PyObject *torch_events_log(PyObject *module, PyObject *args);

#endif
